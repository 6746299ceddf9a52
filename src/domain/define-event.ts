import type { z } from 'zod'

/**
 * Every event is declared once: its type, its version, the shape of its data and one line for the condensed timeline. A
 * released version is never edited; a change is a new version beside it.
 */
export function define<T extends string, S extends z.ZodType>(type: T, data: S, summary: (data: z.infer<S>) => string) {
  return { type, version: 1 as const, data, summary }
}

export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 160 ? `${line.slice(0, 159)}…` : line
}
