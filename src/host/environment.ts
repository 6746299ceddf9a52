const PASSED_ON = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TZ|TMPDIR)$/

/** What a command never waits for: a terminal, a pager, a password. */
const FIXED = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The environment of a command: an allow-list, so that no key or token of the person's gets into it. */
export function commandEnvironment(added: Record<string, string> = {}): Record<string, string> {
  const env: Record<string, string> = { PATH: commandPath() }
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && PASSED_ON.test(name)) env[name] = value
  }
  return { ...env, ...FIXED, ...added }
}

/** Where commands look for programs. Alone, because to read all of `process.env` takes longer than the rest of it. */
export function commandPath(): string {
  return process.env.PATH ?? DEFAULT_PATH
}
