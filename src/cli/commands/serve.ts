import { PRINCIPAL_ID, PRINCIPAL_ID_FAULT, type Retinue, RetinueError, serverSettings } from '../../index.js'
import { openBrowser } from '../browser.js'
import { sayWhetherAnybodyWorks } from '../detach.js'
import { EXIT } from '../exit.js'
import { placeOf, type WorkOptions, withRetinue } from '../open.js'
import { untilEnded } from '../until-ended.js'

type ServeFlags = WorkOptions & { host?: string; port?: number; open?: boolean; json?: boolean; newToken?: string }

const USUAL_PORT = 4774

/** Serves the folder until somebody ends it, which is how it is meant to end. */
export async function serve(flags: ServeFlags): Promise<number> {
  if (flags.newToken !== undefined) return newToken(flags.newToken, flags.json === true)
  const settings = await serverSettings({ cwd: placeOf(flags).cwd, env: process.env })
  // Nobody who runs another command pays for it.
  const { serve: begin } = await import('../../server/index.js')
  return withRetinue(flags, async (retinue) => {
    const port = flags.port ?? settings.port
    const serving = await begin(retinue, {
      ...{ users: settings.users, origins: settings.origins, host: flags.host ?? settings.host },
      ...(port === null ? { port: USUAL_PORT, or_free: true } : { port }),
    })
    const ended = untilEnded()
    const { url, address, token } = serving
    if (flags.json) process.stdout.write(`${JSON.stringify({ url, address, token, port: serving.port })}\n`)
    else
      process.stdout.write(
        `${greeting(serving, port === null && serving.port !== USUAL_PORT, retinue.engine).join('\n')}\n`,
      )
    if (retinue.engine === 'dbos') await sayWhetherAnybodyWorks(retinue)
    const forget = flags.open ? openBrowser(url, process.env) : () => {}
    await ended
    forget()
    const left = await serving.close('the server was ended')
    for (const run_id of left) process.stderr.write(`Run ${run_id} was left. Go on with: retinue resume ${run_id}\n`)
    return EXIT.ok
  })
}

function greeting(
  serving: { url: string; address: string; addresses: string[]; token: string | null; local: boolean },
  moved: boolean,
  engine: Retinue['engine'],
): string[] {
  const { url, address, addresses, token, local } = serving
  return [
    ...(moved ? [`Port ${USUAL_PORT} is taken, so this is another one.`] : []),
    `Retinue is at ${url}`,
    ...addresses.slice(1).map((other) => `          and at ${other}/`),
    token === null
      ? `Users come in with their own tokens: ${address}/#token=<token>`
      : 'Whoever has this address may do everything that you may. The key behind the # is new each time.',
    local
      ? 'Only this machine can reach it.'
      : 'Others can reach it, and what they send is not encrypted: put a proxy with https in front of it.',
    `Ctrl-C ends it. ${engine === 'dbos' ? 'Runs go on: the workers have them.' : 'Runs that it works on are left to be resumed.'}`,
  ]
}

/** The token is shown once and kept nowhere: the configuration has its digest. */
async function newToken(name: string, json: boolean): Promise<number> {
  if (!PRINCIPAL_ID.test(name))
    throw new RetinueError('input', `"${name}" is no name of a user: ${PRINCIPAL_ID_FAULT}.`)
  const { createToken } = await import('../../server/index.js')
  const { token, token_sha256 } = createToken()
  if (json) {
    process.stdout.write(`${JSON.stringify({ name, token, token_sha256 })}\n`)
    return EXIT.ok
  }
  const lines = [
    `The token of ${name}, which is shown only now:`,
    '',
    `  ${token}`,
    '',
    'For your own configuration, with the role that they should have (viewer, operator or admin):',
    '',
    'principals:',
    `  ${name}: operator`,
    'server:',
    '  users:',
    `    ${name}:`,
    `      token_sha256: ${token_sha256}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  return EXIT.ok
}
