import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const signed = (sign: string) => ({ content: `"${sign}"`, fontWeight: '700' })

/**
 * The editor in the colours of the page, which change with its theme. No pictures: those that the library has for faults
 * are addresses that begin with data:, which the page may not load.
 */
const theme = EditorView.theme({
  '&': { backgroundColor: 'var(--card)', color: 'var(--ink)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)',
  },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--ink-3)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 8px 0 10px' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent-soft) 40%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLineGutter': { backgroundColor: 'var(--hover)', color: 'var(--ink)' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--accent)',
  },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-soft)' },
  '.cm-specialChar': { color: 'var(--bad)' },

  '.cm-lintRange': { backgroundImage: 'none', paddingBottom: '0' },
  '.cm-lintRange-error': { textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '3px' },
  '.cm-lintRange-warning': { textDecoration: 'underline wavy var(--warn)', textUnderlineOffset: '3px' },
  '.cm-lintRange-active': { backgroundColor: 'var(--warn-soft)' },
  '.cm-lintPoint::after': { borderBottomColor: 'var(--bad)' },
  '.cm-gutter-lint': { width: '18px' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '0 0 0 4px' },
  '.cm-lint-marker': { width: 'auto', height: 'auto', lineHeight: '1.6' },
  '.cm-lint-marker-error': { content: 'none', color: 'var(--bad)', '&::before': signed('✗') },
  '.cm-lint-marker-warning': { content: 'none', color: 'var(--warn)', '&::before': signed('!') },
  '.cm-tooltip': {
    maxWidth: 'min(60ch, 90vw)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    backgroundColor: 'var(--card)',
    color: 'var(--ink)',
    boxShadow: 'var(--shadow)',
  },
  '.cm-diagnostic': { padding: '6px 10px', fontFamily: 'var(--font)', overflowWrap: 'anywhere' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--bad)' },
  '.cm-diagnostic-warning': { borderLeft: '4px solid var(--warn)' },

  '.cm-changedLine, &.cm-merge-b .cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--good-soft)' },
  '&.cm-merge-b .cm-changedText, .cm-changedText': {
    background: 'color-mix(in srgb, var(--good) 8%, transparent)',
    boxShadow: 'inset 0 -2px 0 var(--good)',
  },
  '.cm-deletedChunk': { padding: '0 0 0 6px', backgroundColor: 'var(--bad-soft)' },
  '.cm-deletedChunk .cm-deletedText': {
    background: 'color-mix(in srgb, var(--bad) 8%, transparent)',
    boxShadow: 'inset 0 -2px 0 var(--bad)',
  },
  '.cm-deletedChunk .cm-chunkButtons': {
    position: 'sticky',
    insetInlineEnd: '6px',
    float: 'right',
    display: 'flex',
    gap: '6px',
    padding: '4px 0',
  },
  '.cm-deletedChunk button, .cm-deletedChunk button[name]': {
    margin: '0',
    minHeight: '26px',
    padding: '2px 8px',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    background: 'var(--card)',
    color: 'var(--ink)',
    font: '500 12.5px var(--font)',
  },
  '.cm-deletedChunk button:hover': { background: 'var(--hover)' },
  '.cm-changeGutter': { width: '16px', paddingLeft: '4px' },
  '.cm-changedLineGutter, &.cm-merge-b .cm-changedLineGutter': {
    background: 'var(--good-soft)',
    color: 'var(--good)',
    '&::before': signed('+'),
  },
  '.cm-deletedLineGutter': { background: 'var(--bad-soft)', color: 'var(--bad)', '&::before': signed('−') },
  '.cm-collapsedLines': { background: 'var(--sunken)', color: 'var(--ink-2)', fontFamily: 'var(--font)' },
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"…"' },
})

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.number, color: 'var(--running)' },
  { tag: [tags.bool, tags.null], color: 'var(--wait)' },
  { tag: [tags.separator, tags.squareBracket, tags.brace, tags.punctuation], color: 'var(--ink-2)' },
])

export const pageTheme = [theme, syntaxHighlighting(colours)]
