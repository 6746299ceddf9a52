import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type PinScope, printableAll, type RegistryEntry } from '#domain'
import type { Agents, PinDone, Registry, RegistryVersions, SessionList } from '#wire'
import { api, at } from '../../api/client'

export type ProfileView = Agents['profiles'][number]
export type AgentView = Agents['agents'][number]
export type PinView = Agents['pins'][number]
export type Session = SessionList['sessions'][number]
export type StoredVersion = RegistryVersions['versions'][number]

/** GET /agents/:name */
type Shown = { profile: ProfileView; entry: RegistryEntry | null }

/** `session_id`: whose pin counts too; null: outside of sessions. */
export function useAgents(session_id: string | null = null) {
  const path = session_id === null ? '/agents' : at`/agents?session_id=${session_id}`
  return useQuery({
    queryKey: ['agents', 'all', session_id],
    queryFn: async ({ signal }) => printableAll(await api<Agents>(path, { signal })),
    placeholderData: (before) => before,
  })
}

export function useShown(name: string) {
  return useQuery({
    queryKey: ['agents', 'one', name],
    queryFn: async ({ signal }) => printableAll(await api<Shown>(at`/agents/${name}`, { signal })),
  })
}

export function useSessions() {
  return useQuery({
    queryKey: ['sessions'],
    queryFn: async ({ signal }) => printableAll(await api<SessionList>('/sessions', { signal })),
  })
}

export function useRegistry() {
  return useQuery({ queryKey: ['registry'], queryFn: ({ signal }) => api<Registry>('/registry', { signal }) })
}

/** `version`: the one that is stored, by which it is known whether a history is old. */
export function useRegistryHistory(version: number) {
  return useQuery({
    queryKey: ['registry', 'history', version],
    queryFn: ({ signal }) => api<RegistryVersions>('/registry/history', { signal }),
    placeholderData: (before) => before,
  })
}

/** What a change of pins or of the registry makes old: also what a new run is offered. */
function useChanged() {
  const queries = useQueryClient()
  return () =>
    Promise.all(['agents', 'registry', 'me'].map((key) => queries.invalidateQueries({ queryKey: [key] }))).then(
      () => {},
    )
}

type PinChange = { scope: PinScope; session_id: string | null; name: string }

export function usePin() {
  return useMutation({
    mutationFn: ({ scope, session_id, name }: PinChange) =>
      api<PinDone>(at`/pins/${scope}`, {
        method: 'PUT',
        body: { name, ...(scope === 'session' && session_id !== null ? { session_id } : {}) },
      }),
    onSuccess: useChanged(),
  })
}

export function useUnpin() {
  return useMutation({
    mutationFn: ({ scope, session_id }: Omit<PinChange, 'name'>) => {
      const of_session = scope === 'session' && session_id !== null
      const path = of_session ? at`/pins/${scope}?session_id=${session_id}` : at`/pins/${scope}`
      return api<PinDone>(path, { method: 'DELETE' })
    },
    onSuccess: useChanged(),
  })
}

export function useSaveRegistry() {
  const changed = useChanged()
  return useMutation({
    mutationFn: (body: { text: string; expected_version: number }) =>
      api<Registry>('/registry', { method: 'PUT', body }),
    // Not waited for: what comes back must not be taken for what somebody else stored.
    onSuccess: () => {
      void changed()
    },
  })
}
