import { useEffect } from 'react'

/** Tabs of a browser are told apart by what their pages are about. null: not known yet. */
export function useTitle(about: string | null): void {
  useEffect(() => {
    document.title = about === null ? 'Retinue' : `${about.trim().split('\n', 1)[0]?.slice(0, 60)} · Retinue`
  }, [about])
}
