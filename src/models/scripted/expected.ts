import type { AgentMemory, ToolResult } from '../../domain/index.js'
import { summaryNotes } from './position.js'
import { ANYTHING } from './script.js'

/** Tools whose answer is told by the files alone, so that it is the same in a copy of the folder. */
const EXACT = new Set([
  'read_file',
  'list_dir',
  'find_files',
  'search_files',
  'write_file',
  'edit_file',
  'overview',
  'load_skill',
])

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
/** What differs from one time to the next in what is said: times, durations, digests, places, runs. */
const FLEETING = new RegExp(
  [
    `\\b${DAY}\\w*,? [\\w: ]{8,30}?\\d{4}\\b(?: [+-]\\d{4})?`,
    '\\b\\d{4}-\\d{2}-\\d{2}(?:[T ]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?)?(?: ?(?:Z\\b|[+-]\\d{2}:?\\d{2}))?',
    '\\b\\d{1,2}:\\d{2}:\\d{2}(?:\\.\\d+)?\\b',
    '\\b\\d+(?:\\.\\d+)? ?(?:ms|µs|us|ns|s|secs?|seconds?|m|mins?|minutes?)\\b',
    '\\b(?=[a-f]*\\d)[0-9a-f]{7,64}\\b',
    '/tmp/[\\w./-]*\\w',
    '(?<=(?:127\\.0\\.0\\.1|localhost):)\\d+',
    '(?<=\\bpid[ =:]{1,2})\\d+',
    // A result from the cache says which run it is of.
    '(?<=\\ba\\d[\\d.]* of run )\\w+',
  ].join('|'),
  'g',
)

/** A text this long is cut in the middle: a script should be fit to be read. */
const MAX_CHARS = 8000

/** What an agent was told last, as a text to be alike: exact, but for what differs from one time to the next. */
export function expectedText(memory: AgentMemory, workspace_root: string, unsure: ReadonlySet<string>): string {
  const last = memory.messages.at(-1)
  const here = (text: string) => (workspace_root.length > 1 ? text.replaceAll(workspace_root, ANYTHING) : text)
  const ofResult = (result: ToolResult) => {
    if (unsure.has(result.call_id) || memory.masked.includes(result.call_id)) return ANYTHING
    return shortened(here(result.content), EXACT.has(result.tool) ? (text) => text : withoutFleeting)
  }
  switch (last?.role) {
    case 'tool':
      return last.results.map(ofResult).join('\n')
    case 'user': {
      // A sub-agent's task is its parent's, and may have results of others in it.
      const given = memory.messages.length === 1
      if (given && memory.contract.parent.agent_id === null) return last.content
      // A summary has, when it is played, a note of the scripted model's after it.
      const told = shortened(here(last.content.replace(summaryNotes, '')), withoutFleeting)
      return given ? told : `${told}${ANYTHING}`
    }
    default:
      return ANYTHING
  }
}

function withoutFleeting(text: string): string {
  return text.replace(FLEETING, ANYTHING)
}

/** Cut between lines, so that nothing fleeting is cut in two. */
function shortened(text: string, clean: (text: string) => string): string {
  if (text.length <= MAX_CHARS) return clean(text)
  const half = MAX_CHARS / 2
  const start = text.slice(0, half)
  const end = text.slice(-half)
  const head = start.slice(0, start.lastIndexOf('\n') + 1)
  const tail = end.includes('\n') ? end.slice(end.indexOf('\n')) : ''
  return `${clean(head)}${ANYTHING}${clean(tail)}`
}
