import { QueryClient, useQuery } from '@tanstack/react-query'
import { printableAll } from '#domain'
import type { Me } from '#wire'
import { ApiError, api } from './client'
import { currentEntry, onEntry } from './entry'

export function createQueries(): QueryClient {
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // What the server refused it refuses again; only a server that is not there may come back.
        retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status > 0),
      },
    },
  })
  // Whatever failed without a key, or was somebody else's, is asked for again with it.
  let missing = false
  onEntry(() => {
    const before = missing
    missing = currentEntry().missing
    if (before && !missing) void queries.invalidateQueries()
  })
  return queries
}

export function useMe() {
  return useQuery({
    queryKey: ['me'],
    queryFn: async ({ signal }) => printableAll(await api<Me>('/me', { signal })),
    staleTime: 60_000,
    // The key may have come by another tab, and the cookie is for all of them.
    refetchOnWindowFocus: 'always',
  })
}

/** Whether whoever looks may start, stop and answer. The server decides; this is for what is offered. */
export function useMayOperate(): boolean {
  const role = useMe().data?.principal.role
  return role === 'operator' || role === 'admin'
}
