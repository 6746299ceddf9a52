import type { Principal, PrincipalRole } from '../../domain/index.js'
import type { ControlRefusal } from '../done.js'

/** What a command gives back. `text` is for a person, `data` the same for a program; `said` for the control log. */
export type CommandAnswer = { ok: true; text: string; data: unknown; said?: string } | ControlRefusal

export type Parsed<A> = { ok: true; args: A } | { ok: false; message: string }

/** Who typed it, and in which conversation. */
export type CommandCaller = { principal: Principal; session_id: string | null }

export type CommandSpec<A> = {
  /** Without the slash: `spawn`, `agents pin`. */
  name: string
  /** As it is typed: `/agents unregister <@handle>`. */
  usage: string
  example: string
  /** What it does, in a few words. */
  summary: string
  /** Who may do it: always, or for what was given. */
  least: PrincipalRole | ((args: A) => PrincipalRole)
  /** Whether it changes nothing and starts nothing: always, or for what was given. Default: it does. */
  looks?: boolean | ((args: A) => boolean)
  /** Understands what is typed after the name, or says what is wrong with it. */
  parse: (given: string) => Parsed<A>
  run: (args: A, caller: CommandCaller) => Promise<CommandAnswer>
}

/** A command whose arguments are its own business. */
export type Command = Pick<CommandSpec<unknown>, 'name' | 'usage' | 'example' | 'summary'> & {
  /** null: it depends on what is given. */
  least: PrincipalRole | null
  prepare: (given: string) => Prepared | { ok: false; message: string }
}

type Prepared = {
  ok: true
  least: PrincipalRole
  looks: boolean
  run: (caller: CommandCaller) => Promise<CommandAnswer>
}

export function defineCommand<A>(spec: CommandSpec<A>): Command {
  const { name, usage, example, summary, least, looks = false } = spec
  return {
    ...{ name, usage, example, summary },
    least: typeof least === 'function' ? null : least,
    prepare(given) {
      const parsed = spec.parse(given)
      if (!parsed.ok) return parsed
      return {
        ok: true,
        least: typeof least === 'function' ? least(parsed.args) : least,
        looks: typeof looks === 'function' ? looks(parsed.args) : looks,
        run: (caller) => spec.run(parsed.args, caller),
      }
    },
  }
}

/** For commands that take nothing. */
export function noArguments(given: string): Parsed<null> {
  return given === '' ? { ok: true, args: null } : { ok: false, message: 'It takes nothing after its name.' }
}

export function wordsOf(given: string): string[] {
  return given.split(/\s+/).filter((word) => word !== '')
}
