import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const OPENERS: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** So long a browser may take to start and read the page. */
const KEPT_MS = 60_000

/**
 * Opens an address in the person's browser, where there is one. That is a courtesy: nothing fails for want of it. Every
 * user of a machine sees the arguments of every process, and there is a key in the address: the browser is given a page
 * that only its owner can read, which leads there. Answers with what removes that page, which a while does too.
 */
export function openBrowser(url: string, env: Record<string, string | undefined>): () => void {
  const [program, ...args] = env.BROWSER ? [env.BROWSER] : (OPENERS[process.platform] ?? ['xdg-open'])
  let folder: string | null = null
  const forget = () => {
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  }
  try {
    // Only its owner can look into such a folder.
    folder = mkdtempSync(join(tmpdir(), 'retinue-'))
    const page = join(folder, 'retinue.html')
    writeFileSync(page, pageTo(url), { mode: 0o600, flag: 'wx' })
    const child = spawn(program, [...args, page], { detached: true, stdio: 'ignore' })
    child.on('error', () => {})
    child.unref()
    setTimeout(forget, KEPT_MS).unref()
  } catch {
    // No place for a page, or a name that cannot be started at all, such as one with a null in it.
  }
  return forget
}

/** `url`: of our own making, without anything that means something in HTML. */
function pageTo(url: string): string {
  return `<!doctype html><meta charset="utf-8"><title>Retinue</title><meta http-equiv="refresh" content="0; url=${url}">\n`
}
