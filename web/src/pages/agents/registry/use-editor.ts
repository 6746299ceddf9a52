import { type RefObject, useEffect, useRef } from 'react'
import { openEditor, type RegistryEditor } from './editor'

type Options = { explained_by: string; text: string; read_only: boolean; changed: (text: string) => void }

/** An editor in a place of the page for as long as it is there. It begins with `text`, and has its own after that. */
export function useEditor(options: Options): {
  place: RefObject<HTMLDivElement | null>
  editor: RefObject<RegistryEditor | null>
} {
  const place = useRef<HTMLDivElement>(null)
  const editor = useRef<RegistryEditor>(null)
  const latest = useRef(options)
  latest.current = options
  const { read_only } = options
  useEffect(() => {
    const parent = place.current
    if (!parent) return
    const { text, explained_by } = latest.current
    const changed = (now: string) => latest.current.changed(now)
    const opened = openEditor(parent, { label: 'Agent registry, as JSON', explained_by, text, read_only, changed })
    editor.current = opened
    return () => {
      editor.current = null
      opened.view.destroy()
    }
  }, [read_only])
  return { place, editor }
}
