import { type Retinue, RetinueError } from '../index.js'
import { isQuiet } from './audience.js'
import { openBrowser } from './browser.js'
import type { DriveOptions } from './drive.js'
import { untilEnded } from './until-ended.js'

export type WindowFlags = DriveOptions & { web?: boolean }

/** Whoever reads only the answer has no use for a window, and would wait for it. */
export function refuseWindow(flags: WindowFlags): void {
  if (flags.web && isQuiet(flags)) {
    throw new RetinueError('input', '--web is for a person who watches: leave it out with --print and --output-format')
  }
}

/**
 * Works on a run with a window on it, served by this process. When the run has ended, a person at the terminal still has
 * the window until Ctrl-C.
 */
export async function withWindow<F extends WindowFlags>(
  retinue: Retinue,
  flags: F,
  work: (flags: F) => Promise<number>,
): Promise<number> {
  if (!flags.web) return work(flags)
  const { serve } = await import('../server/index.js')
  const serving = await serve(retinue, { host: '127.0.0.1', port: 0, users: {}, origins: [] })
  let forget = () => {}
  try {
    const began: DriveOptions['began'] = (run_id, say) => {
      const url = `${serving.address}/runs/${encodeURIComponent(run_id)}#token=${serving.token}`
      say(`The window of this run: ${url}`)
      if (process.stderr.isTTY) forget = openBrowser(url, process.env)
    }
    const code = await work({ ...flags, began })
    if (process.stderr.isTTY) {
      process.stderr.write('The window stays open. Ctrl-C ends it.\n')
      await untilEnded()
    }
    return code
  } finally {
    forget()
    const left = await serving.close('the window was closed')
    for (const run_id of left) process.stderr.write(`Run ${run_id} was left. Go on with: retinue resume ${run_id}\n`)
  }
}
