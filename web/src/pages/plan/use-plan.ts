import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { printableAll, type WatchedEvent } from '#domain'
import type { PlanDetail, RunDetail } from '#wire'
import { api, at } from '../../api/client'
import { type Connection, listen } from '../../api/live'
import { watchForQuestions } from '../run/questions/about-questions'
import { useQuestions } from '../run/questions/use-questions'

/** How long it is waited for more before the plan is asked for again. */
const SETTLE_MS = 400

/** A plan as it is, asked for again whenever something happens that changes it. */
export function usePlan(run_id: string) {
  const queries = useQueryClient()
  const [connection, setConnection] = useState<Connection>('connecting')
  const [questioned, setQuestioned] = useState(0)
  const run = useQuery({
    queryKey: ['plan', run_id, 'run'],
    queryFn: async ({ signal }) => printableAll(await api<RunDetail>(at`/runs/${run_id}`, { signal })),
  })
  const plan = useQuery({
    queryKey: ['plan', run_id, 'outcome'],
    queryFn: async ({ signal }) => printableAll(await api<PlanDetail>(at`/runs/${run_id}/plan`, { signal })),
  })
  const open = run.data !== undefined && run.data.run.status !== 'closed'
  const questions = useQuestions(run_id, { wanted: open, questioned, connection })
  useEffect(() => {
    if (!open) return
    const known = queries.getQueryData<RunDetail>(['plan', run_id, 'run'])
    let last = known?.run.last_position ?? 0
    let timer: number | undefined
    const again = () => {
      timer = undefined
      void queries.invalidateQueries({ queryKey: ['plan', run_id] })
    }
    const soon = () => {
      timer ??= window.setTimeout(again, SETTLE_MS)
    }
    const isAboutQuestions = watchForQuestions()
    const stop = listen({
      url: () => `/api${at`/runs/${run_id}/live?after=${last}`}`,
      on: {
        events: (data) => {
          const events = data as WatchedEvent[]
          last = Math.max(last, ...events.map(({ position }) => position))
          if (events.some(({ type }) => isAboutPlan(type))) soon()
          if (events.filter(isAboutQuestions).length > 0) setQuestioned((before) => before + 1)
        },
        run: (data) => {
          queries.setQueryData(['plan', run_id, 'run'], printableAll(data))
          // Nothing more comes of it, and nobody listens any more when that is known.
          if ((data as RunDetail).run.status === 'closed') again()
        },
      },
      connection: setConnection,
    })
    return () => {
      stop()
      window.clearTimeout(timer)
    }
  }, [open, run_id, queries])
  return { run, plan, questions, connection: open ? connection : ('ended' as const) }
}

/** Whether an event may change what is known of a plan: its own, and how its sub-agents fare. */
function isAboutPlan(type: string): boolean {
  return type.startsWith('plan.') || type.startsWith('agent.subagent_') || type === 'agent.gate_checked'
}
