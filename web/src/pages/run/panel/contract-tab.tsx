import { Link } from 'wouter'
import {
  type Adjustment,
  type BudgetRow,
  budgetRows,
  type Contract,
  checkWords,
  contractRows,
  shortCommit,
  timeInWords,
} from '#domain'
import type { AgentDetail } from '#wire'
import { at } from '../../../api/client'
import styles from './panel.module.css'

/** What binds an agent, to be read: who asked for what, what it may, what it did not get, and what it has used up. */
export function ContractTab({ run_id, detail }: { run_id: string; detail: AgentDetail }) {
  const { contract, asked_by, reused_from, task, worktree, attempts } = detail
  return (
    <div className={styles.scroll}>
      {contract && contract.adjustments.length > 0 && <Adjustments adjustments={contract.adjustments} />}
      <section className={styles.part}>
        <h3>Asked for</h3>
        <dl className={styles.rows}>
          <dt>asked by</dt>
          <dd>
            {asked_by === null ? (
              'whoever started the run'
            ) : (
              <>
                <Link href={at`/runs/${run_id}/agents/${asked_by.agent_id}`}>{asked_by.agent_id}</Link>, with call{' '}
                <code>{asked_by.call_id}</code>
              </>
            )}
          </dd>
          {task !== '' && (
            <>
              <dt>task</dt>
              <dd className={styles.text}>{task.trim()}</dd>
            </>
          )}
          {reused_from && (
            <>
              <dt>result</dt>
              <dd>
                of{' '}
                <Link href={at`/runs/${reused_from.run_id}/agents/${reused_from.agent_id}`}>
                  {reused_from.agent_id}
                </Link>{' '}
                of run {reused_from.run_id}, which did the same; nobody ran here
              </dd>
            </>
          )}
          {attempts > 1 && (
            <>
              <dt>attempts</dt>
              <dd>{attempts}</dd>
            </>
          )}
        </dl>
      </section>
      {contract && <May contract={contract} />}
      {worktree && (
        <section className={styles.part}>
          <h3>Worktree</h3>
          <p className={styles.text}>
            <code>{worktree.path}</code>, on <code>{worktree.branch}</code> from{' '}
            <code>{shortCommit(worktree.base)}</code>
          </p>
          {worktree.included.map(({ path, how }) => (
            <p key={path}>
              has <code>{path}</code>, {how} from your folder
            </p>
          ))}
          {worktree.notes.map((note) => (
            <p key={note} className={styles.warn}>
              {note}
            </p>
          ))}
        </section>
      )}
      {contract && <BudgetBars rows={budgetRows(contract.execution.budget, detail.spent)} />}
      <Checks detail={detail} />
    </div>
  )
}

/** What somebody asked for and did not get comes first: it is what nobody should find out by surprise. */
function Adjustments({ adjustments }: { adjustments: readonly Adjustment[] }) {
  return (
    <section className={styles.clamped}>
      <h3>Clamped: it got less than was asked for</h3>
      <ul>
        {adjustments.map(({ field, asked, given, reason }) => (
          <li key={`${field} ${asked}`}>
            <strong>{field}</strong> <s>{asked}</s> <span aria-hidden="true">→</span>
            <span className="visually-hidden">was given</span> <b>{given}</b>
            <div className={styles.because}>{reason}</div>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Rows whose text is a list of names. */
const CHIPS = new Set(['tools', 'skills', 'servers'])

function May({ contract }: { contract: Contract }) {
  const { handle } = contract.agent
  return (
    <section className={styles.part}>
      <h3>What it may</h3>
      <dl className={styles.rows}>
        {handle !== null && (
          <>
            <dt>handle</dt>
            <dd>{handle}</dd>
          </>
        )}
        {contractRows(contract).map(({ label, text }) => (
          <div key={label} className={styles.pair}>
            <dt>{label}</dt>
            <dd className={styles.text}>
              {CHIPS.has(label) && text !== 'none' ? <Chips names={text.split(' ')} /> : text}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function Chips({ names }: { names: readonly string[] }) {
  return (
    <ul className={styles.chips}>
      {names.map((name) => (
        <li key={name}>{name}</li>
      ))}
    </ul>
  )
}

/** What is used of each limit. The first are its own; tokens, cost and sub-agents are for it and all below it. */
function BudgetBars({ rows }: { rows: readonly BudgetRow[] }) {
  return (
    <section className={styles.part}>
      <h3>Budget</h3>
      <dl className={styles.budget}>
        {rows.map(({ name, what, used, limit, text }) => {
          const share = used === null || limit === null || limit === 0 ? null : Math.min(1, used / limit)
          return (
            <div key={name} className={styles.limit}>
              <dt>
                {what}
                {SHARED.has(name) && <span className={styles.shared}> with all below it</span>}
              </dt>
              <dd>
                {text}
                <div className={`${styles.track} ${share === null ? styles.unknown : ''}`} aria-hidden="true">
                  {share !== null && (
                    <div
                      className={share >= 1 ? styles.over : share >= 0.8 ? styles.near : styles.used}
                      style={{ width: `${share * 100}%` }}
                    />
                  )}
                </div>
              </dd>
            </div>
          )
        })}
      </dl>
    </section>
  )
}

const SHARED = new Set<string>(['total_tokens', 'cost_usd', 'sub_agents'])

/** What code checks of its work, and what it found. */
function Checks({ detail: { contract, gates, setups } }: { detail: AgentDetail }) {
  const wanted = contract?.step.checks ?? []
  if (wanted.length + gates.length + setups.length === 0) return null
  return (
    <section className={styles.part}>
      <h3>Gates</h3>
      {gates.length === 0 &&
        wanted.map((check) => (
          <p key={checkWords(check)} className={styles.text}>
            <span aria-hidden="true">○</span> not checked yet: <code>{checkWords(check)}</code>
          </p>
        ))}
      {setups.map((setup, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are only ever added to
        <Checked key={i} what="setup" which={setup.command} result={setup} />
      ))}
      {gates.map((gate, i) => (
        <Checked
          // biome-ignore lint/suspicious/noArrayIndexKey: they are only ever added to
          key={i}
          what={`${gate.kind} check${gate.after_merge ? ' after the merge' : ''}`}
          which={gate.what}
          result={gate}
        />
      ))}
    </section>
  )
}

type CheckResult = { passed: boolean; detail: string; duration_ms: number }

function Checked({ what, which, result }: { what: string; which: string; result: CheckResult }) {
  const { passed, detail, duration_ms } = result
  return (
    <details className={styles.check} open={!passed}>
      <summary>
        <span className={passed ? styles.good : styles.bad} aria-hidden="true">
          {passed ? '✓' : '✗'}
        </span>{' '}
        {what} {passed ? 'passed' : 'failed'}: <code>{which}</code>{' '}
        <span className={styles.faint}>{timeInWords(duration_ms)}</span>
      </summary>
      <pre className={styles.output}>{detail.trim() === '' ? 'It said nothing.' : detail}</pre>
    </details>
  )
}
