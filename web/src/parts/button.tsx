import type { ButtonHTMLAttributes, ReactNode } from 'react'
import styles from './button.module.css'

type Props = ButtonHTMLAttributes<HTMLButtonElement> & { kind?: 'plain' | 'main' | 'danger'; children: ReactNode }

export function Button({ kind = 'plain', className = '', type = 'button', ...rest }: Props) {
  return <button {...rest} type={type} className={`${styles.button} ${styles[kind]} ${className}`} />
}

/** A button that is only a sign: `label` is what it says to those who do not see it. */
export function IconButton({ label, ...rest }: Omit<Props, 'kind'> & { label: string }) {
  return <button {...rest} type="button" className={styles.icon} aria-label={label} title={label} />
}
