import { nearest, quoted } from '../domain/index.js'

export type Path = readonly (string | number)[]

/** What is wrong with a value, and the way to it. `key`: the key is, not what it has. */
export type FaultAt = { path: Path; message: string; key?: true }

/** More than so many help nobody, and a text that was made for it could have as many as it has characters. */
export const MOST_FAULTS = 100

type Bounds = readonly [least: number, most: number]

/** Why a text cannot stand where it does, or null. */
type TextFault = (text: string) => string | null

const blankFault: TextFault = (text) => (text.trim() === '' ? 'is blank: say something, or remove it' : null)

/**
 * A mapping while it is read. What is wrong with it is noted, and what could have stood there is taken in its place, so
 * that one reading finds all faults and none that only follows from another.
 */
export class Fields {
  constructor(
    private readonly value: object,
    private readonly path: Path,
    private readonly faults: FaultAt[],
    known: readonly string[],
  ) {
    for (const key of Object.keys(value)) if (!known.includes(key)) this.#unknown(key, known)
  }

  /** undefined: it is left out, or has no value, which is a fault. */
  get(name: string): unknown {
    if (!Object.hasOwn(this.value, name)) return undefined
    const found = (this.value as Record<string, unknown>)[name]
    if (found === null) this.no(name, 'has no value: give it one, or remove it')
    return found ?? undefined
  }

  has(name: string): boolean {
    return Object.hasOwn(this.value, name) && (this.value as Record<string, unknown>)[name] !== undefined
  }

  is(name: string, value: unknown): boolean {
    return this.has(name) && (this.value as Record<string, unknown>)[name] === value
  }

  no(name: string | null, message: string): void {
    this.faults.push({ path: name === null ? this.path : this.at(name), message })
  }

  at(...steps: Path): Path {
    return [...this.path, ...steps]
  }

  text(name: string, faultOf = blankFault): string | undefined {
    const found = this.get(name)
    if (found === undefined) return undefined
    return this.#isText(found, this.at(name), faultOf) ? found : undefined
  }

  /** A text that must be there; `what` it says. */
  needed(name: string, what: string): string {
    const found = this.is(name, null)
      ? null
      : this.text(name, (text) => (text.trim() === '' ? `is blank: ${what}` : null))
    if (found === null) this.no(name, `has no value: ${what}`)
    if (!this.has(name)) this.no(name, `is missing: ${what}`)
    return found ?? ''
  }

  /** What a list has, each with its path. One alone stands for a list of it. */
  items(name: string): { value: unknown; path: Path }[] | undefined {
    const found = this.get(name)
    if (found === undefined) return undefined
    if (!Array.isArray(found)) return [{ value: found, path: this.at(name) }]
    return found.map((value: unknown, i) => ({ value, path: this.at(name, i) }))
  }

  /** The same of texts, as far as they have no fault. */
  texts(name: string, faultOf = blankFault): string[] | undefined {
    return this.items(name)?.flatMap(({ value, path }) => (this.#isText(value, path, faultOf) ? [value] : []))
  }

  whole(name: string, [least, most]: Bounds): number | undefined {
    const found = this.get(name)
    if (found === undefined) return undefined
    if (Number.isInteger(found) && (found as number) >= least && (found as number) <= most) return found as number
    this.no(name, `must be a whole number from ${least} to ${most}, not ${quoted(found)}`)
    return undefined
  }

  flag(name: string): boolean | undefined {
    const found = this.get(name)
    if (found === undefined || typeof found === 'boolean') return found
    this.no(name, `must be true or false, not ${quoted(found)}`)
    return undefined
  }

  oneOf<C extends string>(name: string, choices: readonly C[]): C | undefined {
    const found = this.get(name)
    if (found === undefined) return undefined
    const choice = choices.find((one) => one === found)
    if (choice === undefined) {
      const near = typeof found === 'string' ? nearest(found, choices) : null
      const hint = near === null ? '' : `: did you mean ${near}?`
      this.no(name, `must be one of ${choices.join(', ')}, not ${quoted(found)}${hint}`)
    }
    return choice
  }

  #isText(value: unknown, path: Path, faultOf: TextFault): value is string {
    const hint = isMapping(value) ? ': a text with a colon in it goes in quotes' : ''
    const message = typeof value === 'string' ? faultOf(value) : `must be text, not ${quoted(value)}${hint}`
    if (message !== null) this.faults.push({ path, message })
    return message === null
  }

  #unknown(key: string, known: readonly string[]): void {
    const near = nearest(key, known)
    const hint = near === null ? `there are ${known.join(', ')}` : `did you mean ${near}?`
    this.faults.push({ path: this.at(key), message: `unknown key ${quoted(key)}: ${hint}`, key: true })
  }
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `steps[2].depends_on`, as it is told. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}

/** The way back. Keys of a plan have no dots. */
export function pathOf(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) =>
    index === undefined ? (key as string) : Number(index),
  )
}
