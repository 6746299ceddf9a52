import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { retinue } from '../support/cli.js'
import { ownPostgres, queried } from '../support/postgres.js'
import { makeProject } from '../support/project.js'
import { workerProcess } from '../support/worker-process.js'

const RUN = ['-p', 'Do it', '--model', 'scripted/s.yaml']
const project = () => makeProject({ 's.yaml': 'agents: {root: [{text: "Done."}]}' })
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))

/** The URL of a database that is asked for by its name, over TLS, and how to look at it besides. */
async function overTls(sslrootcert: string) {
  const server = await ownPostgres()
  for (const name of ['server.pem', 'server.key']) {
    const lines = `string_to_array($pem$${readFileSync(fixture(name), 'utf8').trim()}$pem$, E'\\n')`
    // The server's own user writes them, and nobody else may read the key.
    await queried(server.url, `COPY (SELECT unnest(${lines})) TO PROGRAM 'umask 077; cat > ${name}'`)
  }
  const settings = { ssl: 'on', ssl_cert_file: 'server.pem', ssl_key_file: 'server.key' }
  for (const [name, value] of Object.entries(settings))
    await queried(server.url, `ALTER SYSTEM SET ${name} = '${value}'`)
  await server.stop()
  await server.start()
  const plain = await server.database()
  const url = new URL(plain)
  url.hostname = 'localhost'
  url.searchParams.set('sslmode', 'verify-full')
  url.searchParams.set('sslrootcert', sslrootcert)
  return { plain, store: url.href, server: url.host }
}

it('every connection of commands and of workers is encrypted where the URL says so', async () => {
  const { plain, store } = await overTls(fixture('authority.pem'))
  const cwd = project()
  await workerProcess(cwd, store)
  const env = { RETINUE_STORE: store, RETINUE_ENGINE: 'dbos' }
  expect(await retinue(RUN, { cwd, env })).toMatchObject({ code: 0, stdout: 'Done.\n', stderr: '' })
  const others = 'datname = current_database() AND pid <> pg_backend_pid()'
  const count = `SELECT bool_and(ssl) AS encrypted, count(*) > 6 AS many
    FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE ${others}`
  expect(await queried(plain, count)).toEqual([{ encrypted: true, many: true }])
})

it('a server that is not who it says, and an authority that cannot be read, are said as what they are', async () => {
  const { store, server } = await overTls(fixture('another-authority.pem'))
  const cwd = project()
  expect(await retinue(['runs'], { cwd, env: { RETINUE_STORE: store } })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      `^retinue: The certificate of the PostgreSQL server at ${server} is not accepted \\(.+\\)\\. Name the authority that issued it, with sslrootcert in the URL of the store, and the host that it is for\\.\n$`,
    ),
  })
  const unread = new URL(store)
  unread.searchParams.set('sslrootcert', '/nowhere/ca.pem')
  expect(await retinue(['runs'], { cwd, env: { RETINUE_STORE: unread.href } })).toMatchObject({
    code: 1,
    stderr:
      "retinue: The file /nowhere/ca.pem that the URL of the store names cannot be read (ENOENT: no such file or directory, open '/nowhere/ca.pem'). Correct sslrootcert, sslcert or sslkey in it.\n",
  })
})
