import { QueryClient, useQuery } from '@tanstack/react-query'
import type { Me } from '#wire'
import { ApiError, api } from './client'

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // What the server refused it refuses again; only a server that is not there may come back.
        retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status > 0),
      },
    },
  })
}

export function useMe() {
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => api<Me>('/me', { signal }), staleTime: 60_000 })
}

/** Whether whoever looks may start, stop and answer. The server decides; this is for what is offered. */
export function useMayOperate(): boolean {
  const role = useMe().data?.principal.role
  return role === 'operator' || role === 'admin'
}
