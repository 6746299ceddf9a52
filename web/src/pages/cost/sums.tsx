import { countInWords, plural } from '#domain'
import styles from './cost.module.css'
import { cachedShare, type Spent, tokensOf } from './costs'
import { moneyOf } from './money'

/** All of it in a few numbers. */
export function Sums({ spent }: { spent: Spent }) {
  const share = cachedShare(spent)
  const { text, missing } = moneyOf(spent)
  return (
    <dl className={styles.sums}>
      <div className={styles.sum}>
        <dt>Cost</dt>
        <dd>{text}</dd>
        <dd className={missing === null ? styles.says : styles.unknown}>{missing ?? 'every price is known'}</dd>
      </div>
      <div className={styles.sum}>
        <dt>Calls of models</dt>
        <dd>{countInWords(spent.calls)}</dd>
        <dd className={styles.says}>{plural(tokensOf(spent), 'token')} together</dd>
      </div>
      <div className={styles.sum}>
        <dt>Tokens in</dt>
        <dd>{countInWords(spent.input_tokens)}</dd>
        <dd className={styles.says}>
          {countInWords(spent.cached_tokens)} of them from a cache{share === null ? '' : `, ${share}%`}
        </dd>
      </div>
      <div className={styles.sum}>
        <dt>Tokens out</dt>
        <dd>{countInWords(spent.output_tokens)}</dd>
      </div>
    </dl>
  )
}
