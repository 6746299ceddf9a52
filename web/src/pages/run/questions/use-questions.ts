import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { GivenAnswer, Questions } from '#wire'
import { ApiError, api, at } from '../../../api/client'
import type { RunStore } from '../run-store'

/** What the run waits for a person to say. Asked for again whenever an event may have changed it. */
export function useQuestions(run_id: string, { questioned, detail }: RunStore) {
  return useQuery({
    queryKey: ['questions', run_id, questioned],
    queryFn: ({ signal }) => api<Questions>(at`/runs/${run_id}/questions`, { signal }),
    enabled: questioned > 0 && detail?.run.status !== 'closed',
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
}

/** Answers one of them. Somebody else may have been faster: then what is open is asked for again. */
export function useAnswer(run_id: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (answer: GivenAnswer) => api(at`/runs/${run_id}/answers`, { method: 'POST', body: answer }),
    onSettled: (_answer, error) => {
      if (error === null || (error instanceof ApiError && error.status === 409)) {
        return queries.invalidateQueries({ queryKey: ['questions', run_id] })
      }
    },
  })
}
