import { isObject } from '../domain/index.js'
import { head } from './text.js'

export type Parsed = { ok: true; value: Record<string, unknown>; mended: string[] } | { ok: false; message: string }

/** Reads the text a model wrote as arguments. Only repairs that cannot change what was meant, and each is named. */
export function parseArguments(raw: string): Parsed {
  const mended: string[] = []
  let value = parseText(raw, mended)
  // Some models write the JSON text as a JSON string, now and then twice.
  for (let i = 0; i < 2 && value.ok && typeof value.json === 'string'; i++) {
    mended.push('JSON inside a string read as JSON')
    value = parseText(value.json, mended)
  }
  if (!value.ok) return { ok: false, message: `the arguments are not JSON: ${value.message}` }
  const { json } = value
  if (json === null) return { ok: true, value: {}, mended: [...mended, 'null read as no arguments'] }
  if (isObject(json)) return { ok: true, value: json, mended }
  return { ok: false, message: `the arguments must be one JSON object, not ${describe(json)}` }
}

type Json = { ok: true; json: unknown } | { ok: false; message: string }

function parseText(raw: string, mended: string[]): Json {
  if (raw.trim() === '') return { ok: true, json: {} }
  const first = tryJson(raw)
  if (first.ok) return first
  const bare = withoutFence(raw)
  const notes = bare === raw ? [] : ['code fence removed']
  const second = tryJson(bare)
  if (second.ok) {
    mended.push(...notes)
    return second
  }
  const tidied = tidy(bare)
  const third = tryJson(tidied.text)
  if (third.ok) mended.push(...notes, ...tidied.notes)
  return third.ok ? third : first
}

/** No honest arguments are nested like this, and whoever walks through them would run out of stack. */
const MAX_DEPTH = 100

export function tryJson(text: string): Json {
  try {
    const json: unknown = JSON.parse(text)
    if (isDeeper(json, MAX_DEPTH)) return { ok: false, message: `nested deeper than ${MAX_DEPTH} levels` }
    return { ok: true, json }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { ok: false, message: message.replace(/\s+/g, ' ').slice(0, 200) }
  }
}

export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1))
}

function withoutFence(text: string): string {
  const trimmed = text.trim()
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || !trimmed.includes('\n')) return text
  return trimmed.slice(trimmed.indexOf('\n') + 1, -3)
}

/** Takes commas before a closing bracket away and escapes control characters that stand raw in a string. */
function tidy(text: string): { text: string; notes: string[] } {
  const notes = new Set<string>()
  const closing = /\s*[}\]]/y
  let out = ''
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i)
    if (inString && c === '\\') {
      out += c + text.charAt(++i)
      continue
    }
    if (c === '"') inString = !inString
    closing.lastIndex = i + 1
    if (!inString && c === ',' && closing.test(text)) notes.add('trailing comma removed')
    else if (inString && c < ' ') {
      notes.add('line breaks and tabs in a string escaped')
      out += JSON.stringify(c).slice(1, -1)
    } else out += c
  }
  return { text: out, notes: [...notes] }
}

/** A value in a few words, for a message. Never looks into lists and objects, which can be of any depth. */
export function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return 'an object'
  if (typeof value !== 'string') return String(value)
  return JSON.stringify(value.length > 40 ? `${head(value, 39)}…` : value)
}
