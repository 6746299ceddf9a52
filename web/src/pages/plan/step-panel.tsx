import { Link } from 'wouter'
import { checkWords, costInWords, plural, stepLabel, timeInWords } from '#domain'
import { at } from '../../api/client'
import { limitWords } from '../../parts/limit-words'
import { ModelText } from '../../parts/model-text'
import { Block, Found, Lines } from './block'
import styles from './plan.module.css'
import { StepBadge } from './step-badge'
import type { Overlap, PlanStep, ShownStep } from './steps'

type Props = {
  run_id: string
  step: ShownStep
  overlaps: readonly Overlap[]
  choose: (id: string) => void
}

/** Everything that is known of a step: what it is to do, who does it, and what came of it. */
export function StepPanel({ run_id, step, overlaps, choose }: Props) {
  const { planned, reason, failures, summary, gates, files_changed, files_kept } = step
  return (
    <>
      <p className={styles.standing}>
        <StepBadge word={step.word} /> <code>{stepLabel(step)}</code>
        {step.stage !== 'work' && <span className={styles.quiet}>{step.stage}</span>}
      </p>
      {reason !== null && <p className={styles.reason}>{reason}</p>}
      <Doer run_id={run_id} step={step} />
      {planned && (
        <Block name="What it is to do">
          <ModelText text={planned.description} />
        </Block>
      )}
      {planned && <Lines name="Done when" lines={planned.success_criteria} />}
      <Order step={step} choose={choose} />
      <Owned owns={step.owns} />
      <Overlaps id={step.id} overlaps={overlaps} choose={choose} />
      <Checks step={step} />
      {failures.length > 0 && (
        <Lines name={`${plural(failures.length, 'attempt')} that failed before`} lines={failures} />
      )}
      {summary !== '' && (
        <Block name="What it says">
          <ModelText text={summary} />
        </Block>
      )}
      <Lines name="Files changed" lines={files_changed} mono />
      <Lines name="Changed, but not part of the result" lines={files_kept} mono />
      {gates.length === 0 && planned && planned.checks.length === 0 && step.attempts > 0 && (
        <p className={styles.quiet}>The plan asks for no check of this step.</p>
      )}
      {planned && <Terms planned={planned} />}
    </>
  )
}

function Doer({ run_id, step }: { run_id: string; step: ShownStep }) {
  const { agent, agent_id, attempts, tool_calls, tokens, cost_usd, duration_ms, word } = step
  const used = attempts > 0 && word !== 'running' && word !== 'interrupted'
  return (
    <Block name="Who">
      <p>
        {agent ?? 'No profile in particular'}
        {agent_id !== null && (
          <>
            {', '}
            <Link href={at`/runs/${run_id}/agents/${agent_id}`}>{agent_id}</Link>
          </>
        )}
        {attempts > 1 && `, attempt ${attempts}`}
      </p>
      {used && (
        <p className={styles.quiet}>
          {plural(tool_calls, 'tool call')}, {plural(tokens, 'token')}, {costInWords(cost_usd)},{' '}
          {timeInWords(duration_ms)}
        </p>
      )}
    </Block>
  )
}

function Order({ step: { depends_on, planned }, choose }: { step: ShownStep; choose: (id: string) => void }) {
  if (depends_on.length === 0) return null
  return (
    <Block name="Comes after">
      <ul className={styles.refs}>
        {depends_on.map((id) => (
          <li key={id}>
            <StepLink id={id} choose={choose} />
            {planned?.inputs.includes(id) && <span className={styles.quiet}> and is given its result</span>}
          </li>
        ))}
      </ul>
    </Block>
  )
}

function StepLink({ id, choose }: { id: string; choose: (id: string) => void }) {
  return (
    <button type="button" className={styles.ref} onClick={() => choose(id)}>
      {id}
    </button>
  )
}

function Owned({ owns }: { owns: readonly string[] | null }) {
  if (owns === null) return <Lines name="May write" lines={['all that its agent may']} />
  return owns.length === 0 ? (
    <Lines name="May write" lines={['nothing']} />
  ) : (
    <Lines name="May write" lines={owns} mono />
  )
}

function Overlaps({
  id,
  overlaps,
  choose,
}: {
  id: string
  overlaps: readonly Overlap[]
  choose: (id: string) => void
}) {
  const behind = overlaps.filter(({ second }) => second === id)
  const before = overlaps.filter(({ first }) => first === id)
  if (behind.length + before.length === 0) return null
  return (
    <Block name="Overlap">
      <ul className={styles.lines}>
        {behind.map(({ first, why }) => (
          <li key={first}>
            waits for <StepLink id={first} choose={choose} />: {why}
          </li>
        ))}
        {before.map(({ second, why }) => (
          <li key={second}>
            goes before <StepLink id={second} choose={choose} />: {why}
          </li>
        ))}
      </ul>
    </Block>
  )
}

/** What was found, where there was a look; before that, what is to be looked at. */
function Checks({ step: { gates, planned } }: { step: ShownStep }) {
  if (gates.length > 0) {
    return (
      <Block name="Gates">
        {gates.map(({ what, passed, stage }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same gate is checked more than once, and none moves
          <Found key={i} passed={passed}>
            <code>{what}</code>{' '}
            <span className={styles.quiet}>{stage === 'after_merge' ? 'after the merge' : 'before the merge'}</span>
          </Found>
        ))}
      </Block>
    )
  }
  return <Lines name="Is checked" lines={(planned?.checks ?? []).map(checkWords)} mono />
}

/** Under which terms it is done, where the plan says more than usual. */
function Terms({ planned: { needs_approval, retries, budget, label } }: { planned: PlanStep }) {
  const limits = limitWords(budget)
  const lines = [
    ...(needs_approval ? ['A person is asked before it begins'] : []),
    ...(label === undefined ? [] : [`On a worker with the label ${label}`]),
    ...(retries > 0 ? [`Tried again up to ${plural(retries, 'time')} if it fails`] : []),
    ...(limits.length > 0 ? [`Budget: ${limits.join(', ')}`] : []),
  ]
  return <Lines name="Terms" lines={lines} />
}
