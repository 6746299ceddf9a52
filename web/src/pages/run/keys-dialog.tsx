import { Dialog } from '../../parts/dialog'
import styles from './run.module.css'

const KEYS: readonly [key: string, does: string][] = [
  ['↑ ↓', 'go from agent to agent'],
  ['→ ←', 'unfold and fold, or go to the first below and to the one above'],
  ['Home End', 'go to the first and to the last'],
  ['Enter', 'open the agent'],
  ['Esc', 'close it'],
  ['/', 'search agents'],
  ['+ −', 'look closer at the time line, and from further away'],
  ['0', 'show all of the time'],
  ['Shift ← →', 'move along the time line'],
  ['Ctrl wheel', 'zoom where the pointer is'],
  ['?', 'show these keys'],
]

export function KeysDialog({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl className={styles.keys}>
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
