import { spawn } from 'node:child_process'

const OPENERS: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens an address in the person's browser, where there is one. That is a courtesy: nothing fails for want of it. */
export function openBrowser(url: string, env: Record<string, string | undefined>): void {
  const [program, ...args] = env.BROWSER ? [env.BROWSER] : (OPENERS[process.platform] ?? ['xdg-open'])
  try {
    const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore' })
    child.on('error', () => {})
    child.unref()
  } catch {
    // A name that cannot be started at all, such as one with a null in it.
  }
}
