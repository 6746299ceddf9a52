import { Dialog } from './dialog'
import styles from './keys-dialog.module.css'

export type Keys = readonly [key: string, does: string][]

const ALWAYS: Keys = [['?', 'show these keys']]

/** The keys of a page. */
export function KeysDialog({ keys, close }: { keys: Keys; close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl className={styles.keys}>
        {[...keys, ...ALWAYS].map(([key, does]) => (
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
