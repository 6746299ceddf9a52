import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { getChunks, unifiedMergeView } from '@codemirror/merge'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { faultInWords, type TextFault } from './faults'
import { pageTheme } from './theme'

/** So much that is the same is left around what is not. */
const AROUND = { margin: 3, minSize: 6 }

/** What every view of a registry has, whether somebody can write in it or not. */
function views(label: string): Extension[] {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
  return [
    EditorView.cspNonce.of(nonce),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    lineNumbers(),
    highlightSpecialChars(),
    json(),
    pageTheme,
  ]
}

/** Both stay focusable: whoever reads with the keyboard gets everywhere. */
const reading: Extension = [EditorState.readOnly.of(true), EditorView.contentAttributes.of({ 'aria-readonly': 'true' })]

/** What was changed from one text to another, in one column. */
export function openDiff(parent: HTMLElement, label: string, before: string, after: string): EditorView {
  const diff = unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: AROUND })
  return new EditorView({ parent, doc: after, extensions: [views(label), reading, diff] })
}

/** A text to be read. */
export function openText(parent: HTMLElement, label: string, text: string): EditorView {
  return new EditorView({ parent, doc: text, extensions: [views(label), reading] })
}

export type RegistryEditor = {
  view: EditorView
  /** Puts a text in place of what is there; it can be undone. */
  replace(text: string): void
  insert(at: number, text: string, select: { from: number; to: number }): void
  goTo(place: { from: number; to: number }): void
  show(faults: readonly TextFault[], of: string): void
  /** Shows what is different from another text, and offers to take that one's part. null: no more. */
  compareWith(other: string | null): void
}

type Opening = {
  label: string
  explained_by: string
  text: string
  read_only: boolean
  changed: (text: string) => void
}

export function openEditor(
  parent: HTMLElement,
  { label, explained_by, text, read_only, changed }: Opening,
): RegistryEditor {
  const comparison = new Compartment()
  const writing = [
    history(),
    indentOnInput(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    keymap.of([...lintKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
  ]
  const view = new EditorView({
    parent,
    doc: text,
    extensions: [
      views(label),
      EditorView.contentAttributes.of({ 'aria-describedby': explained_by }),
      drawSelection(),
      bracketMatching(),
      indentUnit.of('  '),
      EditorState.tabSize.of(2),
      lintGutter(),
      read_only ? reading : writing,
      comparison.of([]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) changed(update.state.doc.toString())
      }),
    ],
  })
  return {
    view,
    replace: (whole) => {
      if (whole === view.state.doc.toString()) return
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: whole }, userEvent: 'input.replace' })
    },
    insert: (at, inserted, select) => {
      view.dispatch({
        changes: { from: at, insert: inserted },
        selection: { anchor: at + select.from, head: at + select.to },
        scrollIntoView: true,
        userEvent: 'input',
      })
      view.focus()
    },
    goTo: ({ from, to }) => {
      const end = view.state.doc.length
      const selection = { anchor: Math.min(from, end), head: Math.min(to, end) }
      view.dispatch({ selection, effects: EditorView.scrollIntoView(selection.anchor, { y: 'center' }) })
      view.focus()
    },
    show: (faults, of) => {
      // Somebody typed on meanwhile: what is wrong now is on its way.
      if (view.state.doc.toString() !== of) return
      const diagnostics = faults.map((fault) => ({ ...fault, message: faultInWords(fault) }))
      view.dispatch(setDiagnostics(view.state, diagnostics))
    },
    compareWith: (other) => {
      const merged = other === null ? [] : unifiedMergeView({ original: other, mergeControls: choice })
      view.dispatch({ effects: comparison.reconfigure(merged) })
      const first = getChunks(view.state)?.chunks[0]
      if (first) view.dispatch({ effects: EditorView.scrollIntoView(first.fromB, { y: 'center' }) })
    },
  }
}

function choice(type: 'reject' | 'accept', action: (event: MouseEvent) => void): HTMLElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.name = type
  button.textContent = type === 'reject' ? 'Take theirs' : 'Keep mine'
  // As the library does it: before the editor takes the press for one into its text. Keys arrive as a click.
  button.onmousedown = action
  button.onclick = (event) => {
    if (event.detail === 0) action(event)
  }
  return button
}
