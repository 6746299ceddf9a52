/** Words at the beginning of which a key sounds as if it said what an agent may do, or how much of it. */
const BEGINNINGS =
  /^(?:allow|den(?:y|ied)|forbid|prohibit|exclu|includ|block|restrict|constrain|disab|enable|disallow|approv|confirm|permi|polic|privileg|capabilit|guard|safe|trust|max|limit|budget|timeout|deadline|network|internet|path|sandbox|isolat|spawn|delegat|subagent|tool|mcp|hook|whitelist|blacklist)/

/** Words that sound so as a whole. */
const WORDS = new Set([
  ...['read', 'reads', 'readable', 'readonly', 'write', 'writes', 'writable', 'writeable', 'edit', 'edits', 'editable'],
  ...['bash', 'shell', 'exec', 'execute', 'run', 'command', 'commands', 'web', 'domains', 'hosts', 'offline', 'access'],
  ...['owns', 'owned', 'ownership', 'scope', 'files', 'folders', 'directories', 'dirs', 'globs', 'only', 'no', 'not'],
  ...[
    'never',
    'without',
    'can',
    'cannot',
    'may',
    'must',
    'ask',
    'turn',
    'turns',
    'step',
    'steps',
    'iterations',
    'calls',
  ],
  ...['depth', 'cost', 'quota', 'cap', 'ttl', 'retries', 'rights', 'servers'],
])

/** For keys that are written without a break. */
const ANYWHERE =
  /allowed|approv|budget|delegat|denied|disallow|exclude|forbid|limit|network|permission|readonly|restrict|sandbox|spawn|subagent|timeout|tool/

/** Keys that sound so and are none: how a model answers, what a person is shown, what others note for themselves. */
const HARMLESS = new Set([
  ...['metadata', 'memory', 'tooltip', 'thinking', 'thinkingbudget', 'reasoning', 'inputs', 'inputconfig'],
  ...['inputschema', 'outputconfig', 'outputschema', 'examples'],
])

/** What to write instead, by what a key is about; the first that matches. */
const INSTEAD: readonly [RegExp, string][] = [
  [/skill/, 'write skills'],
  [/mcp|server/, 'write mcp_servers'],
  [/model/, 'write models'],
  [/readonly|writable|writeable|sandbox|isolat/, 'write isolation: read_only, or write_paths'],
  [/approv|confirm|trust/, 'write mode'],
  [/network|internet|web|domain|host|offline/, 'write tools: web_fetch(...), or deny'],
  [/command|bash|shell|exec/, 'write tools: run_command(...), or deny'],
  [/spawn|delegat|subagent|depth/, 'write may_spawn and can_spawn_children'],
  [/max|limit|budget|timeout|deadline|turn|step|iteration|calls|cost|quota|ttl|retries|^run/, 'write budget'],
  [/path|file|folder|dir|glob|owns|owned|ownership|scope|read|write|edit/, 'write read_paths and write_paths'],
  [/^(?=.*tool).*(?:den|forbid|prohibit|exclu|block|disab|blacklist)/, 'write disallowedTools'],
  [/tool/, 'write tools'],
  [/enable/, 'write disable: true, or remove it'],
]

/**
 * Whether a key that nobody here reads may be a boundary: then what to write instead, otherwise null. It is said of too
 * many rather than of too few: a boundary that is kept and not held is worse than a key that has to be removed.
 */
export function soundsLikeBoundary(key: string): string | null {
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  const whole = words.join('')
  if (isHarmless(key)) return null
  const sounds = words.some((word) => BEGINNINGS.test(word) || WORDS.has(word)) || ANYWHERE.test(whole)
  if (!sounds && !WORDS.has(whole)) return null
  const instead = INSTEAD.find(([about]) => about.test(whole))?.[1]
  return instead ?? 'say it with tools, deny, ask, read_paths, write_paths or budget, or remove it'
}

/** What is below such a key is not looked at either. */
export function isHarmless(key: string): boolean {
  return HARMLESS.has(key.toLowerCase().replace(/[^a-z0-9]/g, ''))
}
