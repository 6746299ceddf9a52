import { HANDLE_FAULT, REGISTRY_LIMITS } from '#domain'
import styles from './registry.module.css'

const { description, tags, tag, agents } = REGISTRY_LIMITS

const FIELDS: readonly [string, string][] = [
  ['agentId', `${HANDLE_FAULT}; each only once`],
  ['profileId', 'the name of a profile that there is'],
  ['description', `1 to ${description} characters in one line: what the agent is good for`],
  ['allowedForwardSkills, allowedMcpServers', 'what it gets at most. Absent: no further limit. Empty: none'],
  ['defaultForwardSkills, defaultMcpServers', 'what it gets unless others are asked for. Absent: all that it may have'],
  ['tags', `at most ${tags}, of at most ${tag} characters each`],
]

/** What can be written in a registry, for those who do not have the page of the manual open. */
export function Rules() {
  return (
    <details className={styles.side}>
      <summary>
        <h2 className={styles.inline}>What can be in it</h2>
      </summary>
      <p className={styles.quiet}>
        version is 1, and agents a list of at most {agents}. Nothing here widens what a parent or a profile allows.
      </p>
      <dl className={styles.fields}>
        {FIELDS.map(([name, rule]) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{rule}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
