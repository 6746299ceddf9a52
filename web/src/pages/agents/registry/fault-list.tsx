import { plural } from '#domain'
import { Badge } from '../../../parts/status'
import { faultInWords, type TextFault } from './faults'
import styles from './registry.module.css'

/** So many are listed: the others are marked in the text. */
const LISTED = 20

type Props = { faults: readonly TextFault[]; goTo?: (fault: TextFault) => void }

/** What is wrong with what is written, each with a way to its place. */
export function FaultList({ faults, goTo }: Props) {
  const more = faults.length - LISTED
  return (
    <ul className={styles.faults}>
      {faults.slice(0, LISTED).map((fault) => (
        <li key={`${fault.from}:${fault.path}:${fault.message}`} className={styles[fault.severity]}>
          {goTo ? (
            <button type="button" className={styles.line} onClick={() => goTo(fault)}>
              {LEVELS[fault.severity]} in line {fault.line}
            </button>
          ) : (
            <strong>
              {LEVELS[fault.severity]} in line {fault.line}
            </strong>
          )}
          <span>{faultInWords(fault)}</span>
        </li>
      ))}
      {more > 0 && <li>and {more} more, marked in the text</li>}
    </ul>
  )
}

const LEVELS = { error: 'Fault', warning: 'Warning' }

export function FaultCount({ faults }: { faults: readonly TextFault[] }) {
  const errors = faults.filter(({ severity }) => severity === 'error').length
  const warnings = faults.length - errors
  if (errors > 0) return <Badge tone="bad">{plural(errors, 'fault')}</Badge>
  if (warnings > 0) return <Badge tone="warn">{plural(warnings, 'warning')}</Badge>
  return <Badge tone="good">no faults</Badge>
}
