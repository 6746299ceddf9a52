// `npm run postgres`: a PostgreSQL for those who develop, until Ctrl-C. Nothing of it is kept.
import { startPostgres } from './postgres-server.mjs'

const server = await startPostgres({ durable: true })
process.stdout.write(`${server.url}\n`)
process.stderr.write(
  'This is PostgreSQL with nothing in it, for as long as this runs. Ctrl-C ends it and removes its data.\n',
)
const alive = setInterval(() => {}, 60_000)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, async () => {
    await server.remove()
    clearInterval(alive)
  })
}
