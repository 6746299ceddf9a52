import type { Answer } from './steps.js'

/** How one provider's API looks on the wire. */
export type Protocol = {
  /** Of the address that a client is given. */
  base: string
  isStream: (path: string, body: Buffer) => boolean
  accepts: (path: string) => boolean
  /** How many answers the conversation in a request already has. */
  turns: (body: Buffer) => number
  whole: (answer: Answer) => unknown
  /** Server-sent events, each with its blank line. */
  events: (answer: Answer) => string[]
  /** What a stream begins with before the first word, one word, and an error. */
  opening: string[]
  tick: string
  error: (type: string, message: string) => unknown
  errorEvent: (type: string, message: string) => string
}

export function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

export function named(type: string, fields: object = {}): string {
  return `event: ${type}\n${data({ type, ...fields })}`
}

/** Counts without parsing: in a string, the quotes would be escaped. */
export function count(body: Buffer, text: string): number {
  let found = 0
  for (let at = body.indexOf(text); at >= 0; at = body.indexOf(text, at + text.length)) found += 1
  return found
}

export function asksForStream(_path: string, body: Buffer): boolean {
  return body.includes('"stream":true')
}
