#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'

// `--version` is asked by scripts and editors, often: it must not load the whole program.
const [first, ...rest] = process.argv.slice(2)
if (rest.length === 0 && (first === '--version' || first === '-V')) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  process.stdout.write(`${version}\n`)
} else {
  // The parser of command lines is all the WebAssembly there is. To optimise its code takes a second of CPU in every
  // process that runs a command, and reading one takes a third of a millisecond either way.
  setFlagsFromString('--liftoff-only')
  const { main } = await import('../dist/cli/main.js')
  await main(process.argv.slice(2))
}
