import { z } from 'zod'
import { DEFINITIONS } from '../events.js'

/** Knows whether a value is a word, or a part of one, that our own records are made of: without it nobody could read them. */
export function createOwnWords(): (value: string) => boolean {
  let words: readonly string[] | null = null
  return (value) => {
    // Their words are all of this kind, and to gather them takes a while.
    if (!/^[a-z_.]+$/.test(value)) return false
    words ??= [...new Set(DEFINITIONS.flatMap(({ type, data }) => [type, ...wordsIn(schemaOf(data))]))]
    return words.some((word) => word.includes(value))
  }
}

function schemaOf(data: z.ZodType): unknown {
  return z.toJSONSchema(data, { unrepresentable: 'any', io: 'input' })
}

/** The keys of its objects, and the values of which it knows all. */
function wordsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {}, enum: values = [], const: value } = schema as Record<string, object>
  const own = [...Object.keys(properties), ...Object.values(values), value].filter((word) => typeof word === 'string')
  return [...own, ...Object.values(schema).flatMap(wordsIn)]
}
