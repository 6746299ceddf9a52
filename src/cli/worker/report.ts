import { line } from '../style.js'

/** Tells whoever supervises a worker what happens: a line of JSON on stdout, or a short one for a person on stderr. */
export type Report = (type: string, text: string, data?: Record<string, unknown>) => void

export function createReport(json: boolean): Report {
  if (!json) return (_, text) => void process.stderr.write(`${line(text)}\n`)
  return (type, text, data = {}) =>
    void process.stdout.write(`${JSON.stringify({ type, at: Date.now(), ...data, text })}\n`)
}
