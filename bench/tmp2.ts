import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { ours } from './loop.js'

const cwd = mkdtempSync('/tmp/bench-')
for (let i = 0; i < 4; i++) writeFileSync(`${cwd}/file-${i}.txt`, 'line of text\n'.repeat(20))
const server = spawn('node', ['scripts/run.mjs', 'bench/server.ts', '3'], { stdio: ['pipe', 'pipe', 'inherit'] })
const url: string = await new Promise((r) => server.stdout.once('data', (d: Buffer) => r(d.toString().trim())))
await ours(url, cwd, `${cwd}/w.db`, { agents: 10, calls: 20, at_once: 4 })
const { Session } = await import('node:inspector/promises')
const s = new Session()
s.connect()
await s.post('Profiler.enable')
await s.post('Profiler.start')
const o = await ours(url, cwd, `${cwd}/1.db`, { agents: 200, calls: 3, at_once: 8 })
const { profile } = await s.post('Profiler.stop')
writeFileSync('/tmp/p.cpuprofile', JSON.stringify(profile))
console.log(o)
server.kill()
process.exit(0)
