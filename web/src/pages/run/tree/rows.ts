type Branch<A> = { readonly id: string; readonly children: readonly A[] }

/** One line of the tree. */
export type Row<A> = {
  agent: A
  level: number
  /** Which of the levels before it go on below it, from the root's children on: where lines are drawn. */
  guides: readonly boolean[]
  /** null: there is nothing below it. */
  open: boolean | null
  /** Whether it was looked for; false: it is only on the way to one that was. */
  found: boolean
  place: number
  siblings: number
}

export type Shown<A> = {
  folded: ReadonlySet<string>
  /** Whether an agent is looked for. null: all are, and what is folded is folded. */
  wanted: ((agent: A) => boolean) | null
}

/** Every agent that is shown, depth first. One that is looked for is shown with all above it, folded or not. */
export function rowsOf<A extends Branch<A>>(root: A | null, { folded, wanted }: Shown<A>): Row<A>[] {
  const rows: Row<A>[] = []
  if (!root) return rows
  const kept = wanted && keptOf(root, wanted)
  const add = (agent: A, guides: readonly boolean[], place: number, siblings: number) => {
    const below = kept ? agent.children.filter(({ id }) => kept.has(id)) : agent.children
    const open = below.length === 0 ? null : wanted !== null || !folded.has(agent.id)
    const found = wanted === null || wanted(agent)
    rows.push({ agent, level: guides.length, guides, open, found, place, siblings })
    if (!open) return
    below.forEach((child, i) => {
      add(child, [...guides, i < below.length - 1], i + 1, below.length)
    })
  }
  if (!kept || kept.has(root.id)) add(root, [], 1, 1)
  return rows
}

/** Those that are looked for, and all above them. */
function keptOf<A extends Branch<A>>(root: A, wanted: (agent: A) => boolean): Set<string> {
  const kept = new Set<string>()
  const look = (agent: A): boolean => {
    let any = wanted(agent)
    for (const child of agent.children) any = look(child) || any
    if (any) kept.add(agent.id)
    return any
  }
  look(root)
  return kept
}
