import { checkWords } from '#domain'
import type { PlanDetail } from '#wire'
import { Block, Found, Lines } from './block'
import styles from './plan.module.css'

type Review = PlanDetail['reviews'][number]

/** What holds for the plan as a whole. */
export function AboutPlan({ outcome }: { outcome: PlanDetail }) {
  const { plan, checks, reviews, revisions, findings } = outcome
  return (
    <section className={styles.whole} aria-label="The plan as a whole">
      {plan && <Lines name="Reached when" lines={plan.completion_criteria} />}
      {plan && <Lines name="Taken for granted" lines={plan.assumptions} />}
      {checks.length > 0 ? (
        <Block name="Checks of the whole">
          {checks.map(({ what, passed, detail }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: checks have no name of their own, and none moves
            <Found key={i} passed={passed}>
              <code>{what}</code>
              {!passed && detail !== '' && <pre className={styles.detail}>{detail}</pre>}
            </Found>
          ))}
        </Block>
      ) : (
        plan && <Lines name="Checks of the whole, not made yet" lines={plan.checks.map(checkWords)} mono />
      )}
      {findings.length > 0 && <Lines name="Found and not mended" lines={findings.map(({ title }) => title)} />}
      {reviews.map((review) => (
        <Reviewed key={review.step} review={review} />
      ))}
      {revisions.length > 0 && (
        <Block name="Revisions">
          <ol className={styles.lines}>
            {revisions.map(({ revision, by, reason }) => (
              <li key={revision}>
                {revision}, by {by}
                {reason !== null && `: ${reason}`}
              </li>
            ))}
          </ol>
        </Block>
      )}
      {plan && <Lines name="If a step fails" lines={[ON_FAILURE[plan.on_failure]]} />}
    </section>
  )
}

const ON_FAILURE = {
  stop: 'nothing more is begun',
  continue: 'what does not depend on it goes on',
  replan: 'the planner is asked for another rest',
} as const

function Reviewed({ review: { step, summary, findings } }: { review: Review }) {
  return (
    <Block name={step}>
      <p>{summary}</p>
      {findings.map(({ title, description, files }) => (
        <details key={title} className={styles.finding}>
          <summary>{title}</summary>
          <p>{description}</p>
          {files.length > 0 && <p className={styles.mono}>{files.join(', ')}</p>}
        </details>
      ))}
      {findings.length === 0 && <p className={styles.quiet}>Nothing was found.</p>}
    </Block>
  )
}
