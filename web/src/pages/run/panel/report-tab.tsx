import { endedAs, endInWords } from '#domain'
import type { AgentDetail } from '#wire'
import { ModelText } from '../../../parts/model-text'
import { Empty } from '../../../parts/states'
import styles from './panel.module.css'

/** What it says that came of it. How it ended is said by the runtime, and comes first. */
export function ReportTab({ detail: { result, final_status, close_reason } }: { detail: AgentDetail }) {
  if (!result)
    return (
      <Empty title="It has not ended yet" below>
        Its report will be here when it has.
      </Empty>
    )
  const ended =
    final_status === null ? result.outcome : endInWords(endedAs(final_status, result.outcome), result.outcome)
  const why = result.reason ?? close_reason
  return (
    <div className={styles.scroll}>
      <p className={styles.ended}>
        <strong>{ended}</strong>
        {why ? `: ${why}` : ''}
      </p>
      {result.text.trim() === '' ? (
        <p className={styles.faint}>It reports nothing.</p>
      ) : (
        <ModelText text={result.text} />
      )}
    </div>
  )
}
