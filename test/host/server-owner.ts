// Run by servers.test.ts in a process of its own, which is then killed: starts a server and says its process id.
import { tmpdir } from 'node:os'
import { createHost } from '../../src/host/index.js'

const script = 'console.log(process.pid); setInterval(() => {}, 1000)'
const started = await createHost().servers.start({ command: [process.execPath, '-e', script], cwd: tmpdir() })
if (!started.ok) throw new Error(started.message)
started.server.onStdout((chunk) => process.stdout.write(chunk))
await started.server.ended
