import { printable } from '#domain'
import { request } from '../../../api/client'

/** More than so much is neither read nor put into a page. */
const MOST_BYTES = 2_000_000

/** The output of a call, as text. */
export async function wholeOutput(path: string, signal: AbortSignal): Promise<string> {
  const reader = (await request(path, { signal })).body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; reader; ) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value.subarray(0, MOST_BYTES - bytes), { stream: true })
    bytes += value.length
    if (bytes <= MOST_BYTES) continue
    await reader.cancel()
    return `${printable(text)}\n… and more, which is too much for a page`
  }
  return printable(text + decoder.decode())
}
