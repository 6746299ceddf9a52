import { type ReactNode, useId } from 'react'
import styles from './new-run.module.css'

type Props = {
  label: string
  /** What is wrong with it. */
  fault?: string | undefined
  /** What it means, as it is now. */
  says?: ReactNode
  children: (props: { id: string; 'aria-invalid': boolean; 'aria-describedby': string }) => ReactNode
}

/** A field with its name, what it means and what is wrong with it. */
export function Field({ label, fault, says, children }: Props) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': fault !== undefined, 'aria-describedby': `${id}-says` })}
      <div id={`${id}-says`}>
        {fault !== undefined && <p className={styles.fault}>{fault}</p>}
        {says && <p className={styles.says}>{says}</p>}
      </div>
    </div>
  )
}
