import type { ReactNode } from 'react'
import { countInWords } from '#domain'
import styles from './cost.module.css'
import type { SpentBy } from './costs'
import { moneyOf } from './money'

type Props = { what: string; groups: readonly SpentBy[]; name: (group: SpentBy) => ReactNode }

/** What was spent, a line for each of what it was spent on. */
export function SpentTable({ what, groups, name }: Props) {
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">{what}</th>
          <th scope="col">Cost</th>
          <th scope="col">Calls</th>
          <th scope="col">Tokens in</th>
          <th scope="col">Cached</th>
          <th scope="col">Tokens out</th>
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => (
          <tr key={group.key}>
            <th scope="row">{name(group)}</th>
            <Money group={group} />
            <td data-name="calls">{countInWords(group.calls)}</td>
            <td data-name="in">{countInWords(group.input_tokens)}</td>
            <td data-name="cached">{countInWords(group.cached_tokens)}</td>
            <td data-name="out">{countInWords(group.output_tokens)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Money({ group }: { group: SpentBy }) {
  const { text, missing } = moneyOf(group)
  return (
    <td className={missing === null ? undefined : styles.unknown} title={missing ?? undefined}>
      {text}
    </td>
  )
}
