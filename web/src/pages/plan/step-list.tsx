import type { StepsProps } from './graph'
import styles from './plan.module.css'
import { StepCard } from './step-card'

/** The same steps one below the other, in the order in which their work is integrated. */
export function StepList({ run_id, steps, overlaps, asked, chosen, choose }: StepsProps) {
  return (
    <ol className={styles.steps} aria-label="Steps">
      {steps.map((step) => (
        <li key={step.id}>
          <StepCard
            {...{ run_id, step }}
            chosen={step.id === chosen}
            behind={overlaps.filter(({ second }) => second === step.id).map(({ first }) => first)}
            asked={asked.has(step.id)}
            choose={() => choose(step.id)}
          />
        </li>
      ))}
    </ol>
  )
}
