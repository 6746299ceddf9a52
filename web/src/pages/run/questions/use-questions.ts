import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { GivenAnswer, Questions } from '#wire'
import { ApiError, api, at } from '../../../api/client'
import type { Connection } from '../../../api/live'

/** So often it is looked whether what is open still is, and what could not be asked for is asked for again. */
const AGAIN_MS = 5_000

/** `questioned`: grows with every event that may have changed what is open. `wanted`: there may be questions at all. */
type Watched = { wanted: boolean; questioned: number; connection: Connection }

/** What the run waits for a person to say. What was known stays when it cannot be asked for. */
export function useQuestions(run_id: string, { wanted, questioned, connection }: Watched) {
  const queries = useQueryClient()
  const questions = useQuery({
    queryKey: ['questions', run_id],
    queryFn: ({ signal }) => api<Questions>(at`/runs/${run_id}/questions`, { signal }),
    enabled: wanted,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.error || state.data?.questions.length ? AGAIN_MS : false),
  })
  // Of an answer that came too late: its card is gone with the question.
  const [late, setLate] = useState<{ run_id: string; message: string } | null>(null)
  const live = connection === 'live'
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked for again at every event about them
  useEffect(() => {
    if (wanted && live) void queries.invalidateQueries({ queryKey: ['questions', run_id] })
  }, [queries, run_id, wanted, questioned, live])
  return {
    open: wanted ? (questions.data?.questions ?? []) : [],
    /** When they were last heard of. */
    heard_at: questions.dataUpdatedAt,
    error: wanted ? questions.error : null,
    retry: () => void questions.refetch(),
    late: wanted && late?.run_id === run_id ? late.message : null,
    /** null: there is nothing to say about the last answer any more. */
    onLate: (message: string | null) => setLate(message === null ? null : { run_id, message }),
  }
}

/** Answers one of them. Somebody else may have been faster: then what is open is asked for again. */
export function useAnswer(run_id: string, onLate: (message: string | null) => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (answer: GivenAnswer) => api(at`/runs/${run_id}/answers`, { method: 'POST', body: answer }),
    onMutate: () => onLate(null),
    onSettled: (_answer, error) => {
      if (error instanceof ApiError && error.code === 'conflict') onLate(error.message)
      if (error === null || (error instanceof ApiError && error.status === 409)) {
        return queries.invalidateQueries({ queryKey: ['questions', run_id] })
      }
    },
  })
}
