import { line } from '../style.js'
import type { ChatEnd } from './chat.js'

/** What is at work no longer, or elsewhere, and what was not sent, and how to get back to it. */
export function farewell(
  { session_id, engine }: { session_id: string | null; engine: 'local' | 'dbos' },
  { left, unsent }: ChatEnd,
  interactive: boolean,
): void {
  const out = interactive ? process.stdout : process.stderr
  const left_as =
    engine === 'dbos' ? 'The workers go on with it: retinue watch' : 'Still to be done, go on with: retinue resume'
  for (const run_id of left) out.write(`${left_as} ${run_id}\n`)
  for (const said of unsent) out.write(`Not sent: ${line(said)}\n`)
  if (session_id !== null && interactive) out.write(`Back to this session: retinue chat --resume ${session_id}\n`)
}
