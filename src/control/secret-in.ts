import { type ControlRefusal, refused } from './done.js'
import type { ControlPlace } from './place.js'

/** Why something cannot be stored, or null: models read what is in the registry and in profiles. */
export function secretIn({ redactor }: Pick<ControlPlace, 'redactor'>, value: unknown): ControlRefusal | null {
  const text = typeof value === 'string' ? value : asJson(value)
  if (text === null)
    return refused('input', 'This cannot be written as JSON: it contains itself, or is nested too deeply.')
  const [name] = redactor.findIn(text)
  return name === undefined
    ? null
    : refused('input', `The secret ${name} is in it, and models would read it: leave it out.`)
}

function asJson(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return null
  }
}
