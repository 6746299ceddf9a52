import { diagnose } from '../../index.js'
import { placeOf, type StoreOptions } from '../open.js'
import { paintFor } from '../style.js'

export async function doctor(options: StoreOptions & { json?: boolean }): Promise<number> {
  const findings = await diagnose({ ...placeOf(options), env: process.env })
  const failed = findings.some(({ state }) => state === 'problem')
  if (options.json) {
    process.stdout.write(`${JSON.stringify(findings)}\n`)
    return failed ? 1 : 0
  }
  const { green, yellow, red, dim } = paintFor(process.stdout, process.env)
  const mark = { ok: green('✓'), note: yellow('–'), problem: red('✗') }
  for (const { topic, state, text, advice } of findings) {
    process.stdout.write(`${mark[state]} ${topic.padEnd(18)} ${text.replaceAll('\n', `\n${' '.repeat(21)}`)}\n`)
    if (advice) process.stdout.write(`  ${' '.repeat(18)} ${dim(advice)}\n`)
  }
  return failed ? 1 : 0
}
