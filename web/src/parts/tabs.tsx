import { type KeyboardEvent, type ReactNode, useId } from 'react'
import styles from './tabs.module.css'

type Tab<T extends string> = { id: T; name: string; note?: string | undefined }
type Props<T extends string> = {
  label: string
  tabs: readonly Tab<T>[]
  chosen: T
  choose: (id: T) => void
  children: ReactNode
}

/** One of several views in the same place: arrow keys go from one to the next. */
export function Tabs<T extends string>({ label, tabs, chosen, choose, children }: Props<T>) {
  const id = useId()
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const next = tabs[(tabs.findIndex((tab) => tab.id === chosen) + step + tabs.length) % tabs.length] as Tab<T>
    event.preventDefault()
    choose(next.id)
    document.getElementById(`${id}-${next.id}`)?.focus()
  }
  return (
    <>
      <div className={styles.tabs} role="tablist" aria-label={label}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}-${tab.id}`}
            type="button"
            role="tab"
            className={styles.tab}
            aria-selected={tab.id === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => choose(tab.id)}
            onKeyDown={move}
          >
            {tab.name}
            {tab.note !== undefined && <span className={styles.note}>{tab.note}</span>}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} className={styles.panel} role="tabpanel" aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  )
}
