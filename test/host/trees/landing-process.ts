import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { land } from '../../../src/host/trees/land.js'
import { good, openTrees } from './run.js'

const [folder = '', base = '', to = '', nth = ''] = process.argv.slice(2)
const own = await openTrees(folder)
let times = 0
for (const name of ['renameSync', 'linkSync', 'symlinkSync', 'unlinkSync'] as const) {
  const original = fs[name] as (...args: unknown[]) => void
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      if (++times === Number(nth)) process.kill(process.pid, 'SIGKILL')
      original(...args)
    },
  })
}
syncBuiltinESMExports()
await good(land(own, { base, to, exactly: true }))
process.exit(0)
