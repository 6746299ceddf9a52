#!/usr/bin/env node
import { readFileSync } from 'node:fs'

// `--version` is asked by scripts and editors, often: it must not load the whole program.
const [first, ...rest] = process.argv.slice(2)
if (rest.length === 0 && (first === '--version' || first === '-V')) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  process.stdout.write(`${version}\n`)
} else {
  const { main } = await import('../dist/cli/main.js')
  await main(process.argv.slice(2))
}
