import { line } from '../style.js'
import type { ChatEnd } from './chat.js'

/** What is at work no longer and what was not sent, and how to get back to it. */
export function farewell(session_id: string | null, { left, unsent }: ChatEnd, interactive: boolean): void {
  const out = interactive ? process.stdout : process.stderr
  for (const run_id of left) out.write(`Still to be done, go on with: retinue resume ${run_id}\n`)
  for (const said of unsent) out.write(`Not sent: ${line(said)}\n`)
  if (session_id !== null && interactive) out.write(`Back to this session: retinue chat --resume ${session_id}\n`)
}
