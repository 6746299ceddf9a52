import { z } from 'zod'
import { matchesGlob, matchesWord } from './globs.js'
import { modeSchema } from './modes.js'

export const decisionSchema = z.enum(['deny', 'ask', 'allow'])
export type Decision = z.infer<typeof decisionSchema>

/** Narrowest first, so that combining decisions is taking the smaller index. */
const ORDER: readonly Decision[] = ['deny', 'ask', 'allow']

export function narrower(a: Decision, b: Decision): Decision {
  return ORDER.indexOf(a) <= ORDER.indexOf(b) ? a : b
}

/**
 * A rule such as `run_command(git diff *)`, `write_file(docs/**)` or `mcp__github__*`. For `run_command` the pattern
 * is matched word by word against a parsed command, for every other tool against the paths it touches.
 */
export const ruleSchema = z.strictObject({
  decision: decisionSchema,
  tool: z.string().min(1).max(500),
  pattern: z.string().min(1).max(500).nullable(),
})
export type Rule = z.infer<typeof ruleSchema>

/** Rules together with the mode that decides where none of them speaks. Authority is a list of these. */
export const ruleLayerSchema = z.strictObject({ mode: modeSchema, rules: z.array(ruleSchema) })
export type RuleLayer = z.infer<typeof ruleLayerSchema>

export type RuleParse = { ok: true; rule: Rule } | { ok: false; message: string }

export function parseRule(decision: Decision, text: string): RuleParse {
  const match = /^([A-Za-z_*][\w*-]*)(?:\((.+)\))?$/s.exec(text.trim())
  if (!match) {
    return { ok: false, message: `"${text}" is not a rule: write tool or tool(pattern), as in run_command(git diff *)` }
  }
  return { ok: true, rule: { decision, tool: match[1] as string, pattern: match[2]?.trim() ?? null } }
}

export function formatRule(rule: Rule): string {
  return `${rule.decision} ${rule.tool}${rule.pattern === null ? '' : `(${rule.pattern})`}`
}

/** What a rule is asked about. `argv` is null where the command could not be understood word by word. */
export type Subject = { tool: string; path?: string; argv?: readonly string[] | null }

export function ruleMatches(rule: Rule, subject: Subject): boolean {
  if (!matchesName(rule.tool, subject.tool)) return false
  if (rule.pattern === null) return true
  if (subject.argv !== undefined) {
    // A command nobody could parse must not profit from an allow rule, nor escape a deny or an ask.
    if (subject.argv === null) return rule.decision !== 'allow'
    if (matchesArgv(rule.pattern, subject.argv)) return true
    // `/bin/rm` is `rm` for whoever forbids it; for whoever allows `rm`, it might be another one.
    const [program = '', ...args] = subject.argv
    return rule.decision !== 'allow' && matchesArgv(rule.pattern, [baseName(program), ...args])
  }
  return subject.path !== undefined && matchesGlob(rule.pattern, subject.path)
}

function matchesName(pattern: string, name: string): boolean {
  return pattern === name || (pattern.includes('*') && matchesWord(pattern, name))
}

/** Word by word; a trailing `*` stands for any further words, a `*` inside a word for any characters of that word. */
function matchesArgv(pattern: string, argv: readonly string[]): boolean {
  const words = pattern.split(/\s+/)
  const open = words.at(-1) === '*'
  if (open) words.pop()
  if (open ? argv.length < words.length : argv.length !== words.length) return false
  return words.every((word, i) => matchesWord(word, argv[i] as string))
}

/**
 * The words of a command that is nothing but a program and its arguments, or null. Anything a shell would treat
 * specially (operators, expansions, substitutions, globs, assignments, escapes) gives null: not understood. So does a
 * program that runs other programs.
 */
export function simpleCommand(command: string): string[] | null {
  const argv: string[] = []
  const text = command.trim()
  let i = 0
  while (i < text.length) {
    if (text[i] === ' ' || text[i] === '\t') {
      i++
      continue
    }
    const word = /^(?:[\w./:@%+,=^-]+|'[^'\n]*'|"[^"$`\\!\n]*")+/.exec(text.slice(i))?.[0]
    if (!word) return null
    const next = text[i + word.length]
    if (next !== undefined && next !== ' ' && next !== '\t') return null
    argv.push(word.replace(/'([^']*)'|"([^"]*)"/g, (_, a?: string, b?: string) => a ?? b ?? ''))
    i += word.length
  }
  const [program = '', ...args] = argv
  if (program === '' || program.includes('=') || runsOthers(baseName(program), args)) return null
  return argv
}

/** Programs that run what their arguments say: their own name tells nothing about what happens. */
const RUNNERS = new Set(
  'sh bash dash zsh ksh fish env xargs sudo doas su nice nohup setsid timeout time command exec eval watch parallel ssh stdbuf ionice chrt taskset busybox flock unshare chroot script strace ltrace npx bunx pnpx'.split(
    ' ',
  ),
)
const RUNNING_FLAGS: Record<string, RegExp> = {
  git: /^(-c|-C|--exec-path|--git-dir|--work-tree|--output|--ext-diff|--upload-pack|--receive-pack|--config-env)/,
  node: /^(-e|-p|--eval|--print)/,
  python: /^-c/,
  python3: /^-c/,
  perl: /^-\w*[eE]/,
  ruby: /^-\w*e/,
  find: /^-(exec|execdir|ok|okdir|delete|fprint.*|fls)$/,
}

/** Programs whose first word says what they do; an option in its place hides it. */
const BY_FIRST_WORD = new Set(['git', 'npm', 'pnpm', 'yarn', 'docker', 'kubectl', 'cargo', 'go'])

function runsOthers(program: string, args: readonly string[]): boolean {
  const hidden = BY_FIRST_WORD.has(program) && args.length > 1 && args[0]?.startsWith('-')
  return hidden || RUNNERS.has(program) || args.some((arg) => RUNNING_FLAGS[program]?.test(arg))
}

function baseName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}
