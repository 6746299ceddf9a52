import { ApiError } from '../../../api/client'

/** More than so much is not put into a page. */
const MOST_CHARS = 2_000_000

/** The whole output of a call, as text. */
export async function wholeOutput(path: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`/api${path}`, { credentials: 'same-origin', signal })
  if (!response.ok) throw new ApiError(response.status, 'unknown', 'The whole output cannot be had from the server.')
  const text = await response.text()
  if (text.length <= MOST_CHARS) return text
  return `${text.slice(0, MOST_CHARS)}\n… and ${text.length - MOST_CHARS} characters more, which are too many for a page`
}
