import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import { printableAll } from '#domain'
import type { Costs } from '#wire'
import { api } from '../../api/client'
import { Empty, Failure, Loading } from '../../parts/states'
import { useTitle } from '../../parts/title'
import { ByModel, ByProfile, ByRun } from './breakdowns'
import { ByDay } from './by-day'
import styles from './cost.module.css'
import { dayOf, ofModels, spentByDay, spentOn } from './costs'
import { Sums } from './sums'

const PERIODS = [7, 30, 90] as const
const USUAL = 30

/** What models cost: in all, by day, by model, by run and by the profile of the agent. */
export function CostPage() {
  const [params, setParams] = useSearchParams()
  useTitle('Cost')
  const days = PERIODS.find((one) => String(one) === params.get('days')) ?? USUAL
  const costs = useQuery({
    queryKey: ['costs', days],
    queryFn: async ({ signal }) => printableAll(await api<Costs>(`/costs?days=${days}`, { signal })),
    placeholderData: (before) => before,
  })
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <h1>Cost</h1>
        <fieldset className={styles.periods}>
          <legend className="visually-hidden">Period</legend>
          {PERIODS.map((one) => (
            <label key={one} className={styles.period}>
              <input
                type="radio"
                name="days"
                className="visually-hidden"
                checked={one === days}
                onChange={() => setParams({ days: String(one) }, { replace: true })}
              />
              {one} days
            </label>
          ))}
        </fieldset>
      </header>
      {costs.error ? (
        <Failure below error={costs.error} retry={costs.refetch} />
      ) : costs.data ? (
        <Shown costs={costs.data} days={days} />
      ) : (
        <Loading what="what was spent" />
      )}
    </div>
  )
}

function Shown({ costs, days }: { costs: Costs; days: number }) {
  const { from, more } = costs
  const rows = ofModels(costs.rows)
  if (rows.length === 0) {
    return (
      <Empty title={`No model was called in the last ${days} days`} below>
        <p>
          Start a run with <code>retinue "what is to be done"</code>, or look further back.
        </p>
      </Empty>
    )
  }
  return (
    <>
      {more && (
        <p className={styles.note} role="note">
          There were more runs in this time than are counted here: the newest are. Choose fewer days to see all of them.
        </p>
      )}
      <Sums spent={spentOn(rows)} />
      <ByDay days={spentByDay(rows, from, dayOf(Date.now()))} />
      <div className={styles.two}>
        <ByModel rows={rows} />
        <ByProfile rows={rows} />
      </div>
      <ByRun rows={rows} />
    </>
  )
}
