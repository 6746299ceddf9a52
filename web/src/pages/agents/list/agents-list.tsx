import { useState } from 'react'
import { Link } from 'wouter'
import { useMe } from '../../../api/queries'
import { Empty, Failure, Loading } from '../../../parts/states'
import { useAgents } from '../data'
import { InEffect } from '../pins/in-effect'
import { AgentRow } from './agent-row'
import { Details } from './details'
import styles from './list.module.css'
import { ProfileRow } from './profile-row'
import { searched } from './search'

/** All handles and profiles, with one of them beside: `chosen`, by its name. */
export function AgentsList({ chosen }: { chosen: string | null }) {
  const { data, error, refetch } = useAgents()
  const me = useMe().data
  const [typed, setTyped] = useState('')
  if (!data) return error ? <Failure below error={error} retry={refetch} /> : <Loading what="agents" />
  const { agents, profiles } = searched(data, typed)
  const broken = data.profiles.filter(({ profile }) => profile === null).length
  return (
    <div className={styles.columns} data-chosen={chosen !== null}>
      <div className={styles.lists}>
        {me && <InEffect view={data} me={me} />}
        <label className={styles.search}>
          <span className="visually-hidden">Search agents and profiles</span>
          <input
            type="search"
            placeholder="Search by name, description, tag, tool or file"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        <p className="visually-hidden" role="status">
          {typed.trim() === '' ? '' : `${agents.length} agents and ${profiles.length} profiles found`}
        </p>

        <section className={styles.list} aria-labelledby="agents-heading">
          <header>
            <h2 id="agents-heading">Agents</h2>
            <p>
              Handles of the <Link href="/agents/registry">registry</Link>, under which agents hand work to others.
            </p>
          </header>
          {data.agents.length === 0 ? (
            <p className={styles.none}>
              No agents are registered. Add one in the <Link href="/agents/registry">registry</Link>, or with:{' '}
              <code>retinue agents register</code>
            </p>
          ) : (
            <ul>
              {agents.map((agent) => (
                <AgentRow key={agent.agentId} agent={agent} chosen={chosen === agent.agentId} />
              ))}
            </ul>
          )}
          {agents.length === 0 && data.agents.length > 0 && <p className={styles.none}>No agent is like that.</p>}
        </section>

        <section className={styles.list} aria-labelledby="profiles-heading">
          <header>
            <h2 id="profiles-heading">Profiles</h2>
            <p>
              Recipes for contracts: prompt, model, tools and budget. They are changed where they come from, not here.
              {broken > 0 && (
                <strong className={styles.broken}>
                  {' '}
                  {broken === 1 ? '1 of them cannot be used.' : `${broken} of them cannot be used.`}
                </strong>
              )}
            </p>
          </header>
          <ul>
            {profiles.map((profile) => (
              <ProfileRow key={profile.name} view={profile} chosen={chosen === profile.name} />
            ))}
          </ul>
          {profiles.length === 0 && <p className={styles.none}>No profile is like that.</p>}
        </section>
      </div>
      <aside className={styles.beside} aria-label="Details">
        {chosen === null ? (
          <Empty title="Nothing is chosen" below>
            Choose an agent or a profile to see all about it.
          </Empty>
        ) : (
          <Details key={chosen} name={chosen} />
        )}
      </aside>
    </div>
  )
}
