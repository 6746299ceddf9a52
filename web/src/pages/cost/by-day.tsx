import { useState } from 'react'
import { costInWords, countInWords } from '#domain'
import { Button } from '../../parts/button'
import styles from './by-day.module.css'
import page from './cost.module.css'
import { type SpentBy, tokensOf, topOf } from './costs'
import { moneyOf } from './money'
import { SpentTable } from './spent-table'

/** A bar for each day. Where no price is known, bars are of tokens: nothing would be a lie. */
export function ByDay({ days }: { days: readonly SpentBy[] }) {
  const [as_table, setAsTable] = useState(false)
  const in_money = days.some(({ known_usd }) => known_usd > 0)
  return (
    <section className={page.card} aria-labelledby="by-day">
      <header className={page.title}>
        <h2 id="by-day">By day</h2>
        <span className={page.says}>
          {in_money ? 'in $' : 'in tokens, since no price is known'}, days are those of UTC
        </span>
        <Button aria-pressed={as_table} onClick={() => setAsTable(!as_table)}>
          As a table
        </Button>
      </header>
      {as_table ? (
        <SpentTable what="Day" groups={days.toReversed()} name={({ key }) => key} />
      ) : (
        <Chart days={days} in_money={in_money} />
      )}
    </section>
  )
}

function Chart({ days, in_money }: { days: readonly SpentBy[]; in_money: boolean }) {
  const amountOf = (day: SpentBy) => (in_money ? day.known_usd : tokensOf(day))
  const words = in_money ? costInWords : countInWords
  const top = topOf(Math.max(0, ...days.map(amountOf)))
  return (
    <figure className={styles.chart}>
      <figcaption className="visually-hidden">
        A bar for each day; the same as a table with the button above.
      </figcaption>
      <div className={styles.scale} aria-hidden="true">
        <span>{words(top)}</span>
        <span>{words(top / 2)}</span>
        <span>0</span>
      </div>
      <ol className={styles.bars} style={{ '--days': days.length } as React.CSSProperties}>
        {days.map((day, i) => {
          const { text, missing } = moneyOf(day)
          const says = `${day.key}: ${day.calls === 0 ? 'no call' : `${text}, ${countInWords(tokensOf(day))} tokens`}${missing ? `; ${missing}` : ''}`
          return (
            <li key={day.key} className={styles.day} title={says}>
              <span className="visually-hidden">{says}</span>
              <span className={styles.column} aria-hidden="true">
                {missing && <span className={styles.missing}>?</span>}
                {day.calls > 0 && <span className={styles.bar} style={{ height: `${(amountOf(day) / top) * 100}%` }} />}
              </span>
              {isNamed(i, days.length, 8) && (
                <span className={isNamed(i, days.length, 4) ? styles.name : styles.often} aria-hidden="true">
                  {shortDay(day.key)}
                </span>
              )}
            </li>
          )
        })}
      </ol>
    </figure>
  )
}

/** About so many of the days are written below the bars, the last always. */
function isNamed(i: number, count: number, names: 4 | 8): boolean {
  return (count - 1 - i) % (Math.ceil(count / 8) * (8 / names)) === 0
}

function shortDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
}
