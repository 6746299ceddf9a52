import type { Choice, Completer } from './screen.js'

type Named = { name: string; note?: string }

/** A command of the chat, as far as completing it goes. Names with or without the slash. */
export type CompletedCommand = Named & {
  usage?: string
  subcommands?: CompletedCommand[]
  /** With their dashes. */
  options?: string[]
  /** What may stand where a subcommand or an argument does. */
  values?: () => Promise<Named[]>
}

export type CompleterOptions = {
  commands: () => CompletedCommand[]
  handles: () => Promise<Named[]>
  /** Paths that begin with the prefix, folders with a slash at their end. */
  files: (prefix: string) => Promise<string[]>
}

/** More than this nobody looks through. */
const CHOICES = 200

/** Completes commands at the beginning, `@handle` and the paths of files anywhere. */
export function createCompleter(options: CompleterOptions): Completer {
  return async (text, cursor) => {
    const before = text.slice(0, cursor)
    let from = cursor
    while (from > 0 && !/\s/.test(before[from - 1] as string)) from--
    const word = before.slice(from)
    const choices = (await commandChoices(before, word, options)) ?? (await wordChoices(word, options))
    return { from, to: cursor, choices: choices.slice(0, CHOICES) }
  }
}

/** What may come next in a command; null where the text is none, or where anything may come. */
async function commandChoices(before: string, word: string, options: CompleterOptions): Promise<Choice[] | null> {
  if (before === '' || /^\/[\w-]*$/.test(before)) {
    const commands = options.commands().map((command) => ({ ...command, name: `/${bare(command.name)}` }))
    return named(commands, word)
  }
  const [first = '', ...words] = before.split(/\s+/)
  const command = options.commands().find(({ name }) => `/${bare(name)}` === first)
  if (command === undefined || before.includes('\n')) return null
  const given = words.slice(0, -1)
  const found = innermost(command, given)
  if (word.startsWith('-')) {
    const all = [...new Set([...(found.options ?? []), ...(command.options ?? [])])]
    return named(
      all.filter((name) => !given.includes(name)).map((name) => ({ name })),
      word,
    )
  }
  if (word.startsWith('@')) return null
  const nothing_yet = found === command && given.every((each) => each.startsWith('-'))
  const values = await orNone(found.values?.())
  const choices = named([...(nothing_yet ? (found.subcommands ?? []) : []), ...values], word)
  return choices.length > 0 || word === '' ? choices : null
}

/** The subcommand that the words have come to. */
function innermost(command: CompletedCommand, words: string[]): CompletedCommand {
  const [first, ...rest] = words.filter((word) => !word.startsWith('-'))
  const found = command.subcommands?.find(({ name }) => name === first)
  return found === undefined ? command : innermost(found, rest)
}

async function wordChoices(word: string, options: CompleterOptions): Promise<Choice[]> {
  if (word === '') return []
  if (!word.startsWith('@')) return fileChoices('', word, options)
  const handles = (await orNone(options.handles())).map((each) => ({
    ...each,
    name: `@${each.name.replace(/^@/, '')}`,
  }))
  return [...named(handles, word), ...(await fileChoices('@', word.slice(1), options))]
}

async function fileChoices(sign: string, path: string, { files }: CompleterOptions): Promise<Choice[]> {
  const here = path.startsWith('./') ? './' : ''
  const prefix = path.slice(here.length)
  const found = await orNone(files(prefix))
  return found
    .filter((name) => name.startsWith(prefix))
    .map((name) => ({ text: `${sign}${here}${name}${name.endsWith('/') ? '' : ' '}` }))
}

function named(all: (Named & { usage?: string })[], word: string): Choice[] {
  const looked_for = word.toLowerCase()
  return all
    .filter(({ name }) => name.toLowerCase().startsWith(looked_for))
    .map(({ name, note, usage }) => {
      const said = note ?? usage
      return { text: `${name} `, ...(said === undefined ? {} : { note: said }) }
    })
}

function bare(name: string): string {
  return name.replace(/^\//, '')
}

/** What cannot be found out is not offered; nobody is told in the middle of a word. */
async function orNone<T>(asked: Promise<T[]> | undefined): Promise<T[]> {
  try {
    return (await asked) ?? []
  } catch {
    return []
  }
}
