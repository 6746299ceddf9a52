import { StringDecoder } from 'node:string_decoder'
import type { ChatScreen } from './screen.js'
import { createInputs } from './screen-inputs.js'

/**
 * Where there is no terminal: a line is one input, nothing is drawn. Each is given out when the answer to the one before
 * it is there, and so is the end.
 */
export function openPlainScreen({
  input,
  output,
}: {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
}): ChatScreen {
  const inputs = createInputs()
  const decoder = new StringDecoder('utf8')
  let unfinished = ''
  const say = (line: string) => {
    const text = line.replace(/\r$/, '')
    if (text.trim() !== '') inputs.add({ kind: 'said', text })
  }
  const read = (chunk: Buffer | string) => {
    unfinished += typeof chunk === 'string' ? chunk : decoder.write(chunk)
    const lines = unfinished.split('\n')
    unfinished = lines.pop() as string
    for (const line of lines) say(line)
  }
  const ended = () => {
    stop()
    say(unfinished + decoder.end())
    inputs.add({ kind: 'leave' })
  }
  const stop = () => {
    input.off('data', read)
    for (const event of ['end', 'close', 'error']) input.off(event, ended)
  }
  for (const event of ['end', 'close', 'error']) input.on(event, ended)
  input.on('data', read)

  return {
    inputs: () => inputs.all(),
    write: (text) => void output.write(text),
    status: () => {},
    changed: () => {},
    busy: (is) => inputs.hold(is),
    leaving: () => {},
    takeBack: () => {},
    label: () => {},
    drafting: () => false,
    away: () => {},
    back: () => {},
    close: () => {
      stop()
      input.pause()
      inputs.close()
    },
  }
}
