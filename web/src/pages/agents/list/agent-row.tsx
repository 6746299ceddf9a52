import { Link } from 'wouter'
import { forwardedInWords } from '#domain'
import { at } from '../../../api/client'
import { Badge } from '../../../parts/status'
import type { AgentView } from '../data'
import styles from './list.module.css'

/** A handle with what it stands for, and what the registry narrows. */
export function AgentRow({ agent, chosen }: { agent: AgentView; chosen: boolean }) {
  const { agentId, profileId, description, tags = [], fault } = agent
  const skills = forwardedInWords(agent.defaultForwardSkills, agent.allowedForwardSkills)
  const servers = forwardedInWords(agent.defaultMcpServers, agent.allowedMcpServers)
  return (
    <li className={styles.row} data-chosen={chosen}>
      <div className={styles.title}>
        <Link href={at`/agents/show/${agentId}`} className={styles.name} aria-current={chosen ? 'true' : undefined}>
          {agentId}
        </Link>
        <span className={styles.to}>
          <span aria-hidden="true">→ </span>
          <span className="visually-hidden">has the profile </span>
          {profileId}
        </span>
        {fault !== null && <Badge tone="bad">cannot be used</Badge>}
      </div>
      <p className={styles.says}>{description}</p>
      {fault !== null && (
        <p className={styles.fault}>
          Cannot be used: {fault} Mend the profile, or give the handle another one in the registry.
        </p>
      )}
      {(skills !== null || servers !== null || tags.length > 0) && (
        <dl className={styles.facts}>
          {skills !== null && <Fact label="Skills">{skills}</Fact>}
          {servers !== null && <Fact label="MCP servers">{servers}</Fact>}
          {tags.length > 0 && <Fact label="Tags">{tags.join(', ')}</Fact>}
        </dl>
      )}
    </li>
  )
}

function Fact({ label, children }: { label: string; children: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
