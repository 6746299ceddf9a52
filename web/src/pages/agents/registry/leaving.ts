import { useEffect, useRef, useState } from 'react'

/** Of the browser's navigation, what is used here; browsers that have none ask only before they close the page. */
type Navigate = Event & { navigationType: string; destination: { url: string; key: string } }
type Navigation = EventTarget & { traverseTo: (key: string) => unknown; navigate: (url: string) => unknown }

/** Asks before a page with something unsaved is left. `leave`: somebody wants to; it is up to them. */
export function useLeaving(unsaved: boolean): { leave: (() => void) | null; stay: () => void } {
  const [leave, setLeave] = useState<(() => void) | null>(null)
  const may_go = useRef(false)
  useEffect(() => {
    if (!unsaved) return
    const navigation = (window as unknown as { navigation?: Navigation }).navigation
    const closing = (event: BeforeUnloadEvent) => event.preventDefault()
    const going = (event: Event) => {
      const { navigationType, destination, cancelable } = event as Navigate
      const to = new URL(destination.url)
      if (may_go.current || !cancelable || to.pathname === window.location.pathname) return
      event.preventDefault()
      setLeave(() => () => {
        may_go.current = true
        if (navigationType === 'traverse') navigation?.traverseTo(destination.key)
        else window.history.pushState(null, '', to.pathname + to.search)
      })
    }
    window.addEventListener('beforeunload', closing)
    navigation?.addEventListener('navigate', going)
    return () => {
      window.removeEventListener('beforeunload', closing)
      navigation?.removeEventListener('navigate', going)
    }
  }, [unsaved])
  return { leave, stay: () => setLeave(null) }
}
