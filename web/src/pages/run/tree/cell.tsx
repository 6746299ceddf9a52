import type { ReactNode, Ref } from 'react'

type Props = {
  /** Of the row that names the columns. */
  head?: boolean
  className?: string | undefined
  ref?: Ref<HTMLDivElement>
  children: ReactNode
}

/** A cell of a grid that is no table: of a table all rows would have to be there, not only those that are seen. */
export function Cell({ head = false, className, ref, children }: Props) {
  return (
    <div ref={ref} role={head ? 'columnheader' : 'gridcell'} className={className}>
      {children}
    </div>
  )
}
