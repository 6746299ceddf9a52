import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { TreeAgent } from '#domain'
import type { Row } from './rows'

type Given = {
  rows: readonly Row<TreeAgent>[]
  fold: (id: string) => void
  open: (id: string) => void
  chosen: string | null
  show: (index: number) => void
}

/** So many rows a page. */
const PAGE = 15

/** The row that keys are about, and what they do: as in every tree. */
export function useTreeKeys({ rows, fold, open, chosen, show }: Given) {
  const [active, setActive] = useState<string | null>(chosen)
  const latest = useRef({ rows, show })
  latest.current = { rows, show }
  // Whoever comes with the address of an agent sees its row.
  const there = rows.length > 0
  useEffect(() => {
    if (chosen === null || !there) return
    const { rows, show } = latest.current
    setActive(chosen)
    const index = rows.findIndex(({ agent }) => agent.id === chosen)
    if (index >= 0) show(index)
  }, [chosen, there])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const index = rows.findIndex(({ agent }) => agent.id === active)
    const row = rows[index]
    const go = (to: number) => {
      const next = rows[Math.max(0, Math.min(rows.length - 1, to))]
      if (!next) return
      setActive(next.agent.id)
      show(rows.indexOf(next))
    }
    const does: Record<string, (() => void) | undefined> = {
      ArrowDown: () => go(index + 1),
      ArrowUp: () => go(index - 1),
      PageDown: () => go(index + PAGE),
      PageUp: () => go(index - PAGE),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      ArrowRight: () => {
        if (row?.open === false) fold(row.agent.id)
        else if (row?.open) go(index + 1)
      },
      ArrowLeft: () => {
        if (row?.open) fold(row.agent.id)
        else if (row?.agent.parent_id != null) go(rows.findIndex(({ agent }) => agent.id === row.agent.parent_id))
      },
      Enter: () => {
        if (row) open(row.agent.id)
      },
      ' ': () => {
        if (row && row.open !== null) fold(row.agent.id)
      },
    }
    const act = does[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }
  return { active, setActive, onKeyDown }
}
