import type { ServerList } from '../../control/index.js'
import { createRedactor, isDatabaseUrl } from '../../domain/index.js'
import { createHost, type Host } from '../../host/index.js'
import { createModels, type LocalServer, type Models } from '../../models/index.js'
import type { McpServerSettings } from '../../tools/index.js'
import type { Retinue } from '../api.js'
import { RetinueError } from '../errors.js'
import { type OpenOptions, openProject } from '../open.js'
import { hereIn } from '../workers/here.js'
import { diagnoseDatabase } from './database.js'
import { type Finding, note, ok, problem } from './findings.js'
import { diagnoseWorkers } from './workers.js'

/** What this machine and folder have and lack. Looks at everything, whatever is broken. */
export async function diagnose(options: OpenOptions): Promise<Finding[]> {
  const opened = await openProject(options).catch((error: Error) => error)
  if (opened instanceof Error) {
    const models = createModels({ env: options.env })
    return [
      ...platform(),
      ...(await machine(createHost())),
      unopened(opened),
      ...providers(models, await models.discover()),
    ]
  }
  const { host, models, config, listed, retinue, store } = opened
  try {
    const files = config.sources.map(({ file }) => file).join(', ')
    return [
      ...platform(),
      ...(await machine(host, config.config.sandbox)),
      ok('configuration', files === '' ? 'defaults only (retinue init writes a file to start from)' : files),
      ...(await stored(retinue)),
      ...(isDatabaseUrl(store) ? await diagnoseDatabase(store, host.clock) : []),
      ...(isDatabaseUrl(store)
        ? await diagnoseWorkers(
            store,
            retinue,
            await hereIn(host, retinue.cwd, options.env.RETINUE_PROJECT),
            host.identity,
          )
        : []),
      ...secrets(config.config.secrets, options.env),
      ...servers(listed),
      ...(await chosen(models, config.config.model)),
      ...providers(models, await models.discover()),
    ]
  } finally {
    await retinue.close()
  }
}

async function machine(host: Host, setting: 'on' | 'off' = 'on'): Promise<Finding[]> {
  const { git_version, sandbox } = await host.facts()
  return [
    git_version
      ? ok('git', git_version)
      : note('git', 'not found', 'Install git: the git tools and the base of a run need it.'),
    setting === 'off'
      ? note(
          'sandbox',
          'turned off by the configuration (sandbox: off)',
          'Every command asks, except in dangerous mode.',
        )
      : sandbox.kind === 'none'
        ? note('sandbox', sandbox.reason, 'Until then every command asks, except in dangerous mode.')
        : ok('sandbox', sandbox.reason),
  ]
}

async function stored(retinue: Retinue): Promise<Finding[]> {
  const runs = await retinue.runs({ limit: 1000 })
  const open = runs.filter((run) => run.status === 'interrupted')
  const found = ok('store', `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`)
  if (open.length === 0) return [found]
  return [found, note('runs', `${open.length} interrupted`, `Go on with: retinue resume ${open[0]?.run_id}`)]
}

function unopened(error: Error): Finding {
  const code = error instanceof RetinueError ? error.code : 'store'
  if (code === 'config') return problem('configuration', error.message, 'Correct that, then run doctor again.')
  if (code === 'input') return problem('folder', error.message, 'Name a folder that can be read.')
  return problem('store', error.message, 'Without it nothing works. Name another one with --store, or mend this one.')
}

function platform(): Finding[] {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const fits = major > 20 || (major === 20 && minor >= 19)
  return [
    fits
      ? ok('node', `${process.version} on ${process.platform} ${process.arch}`)
      : problem('node', process.version, 'Retinue needs Node 20.19 or later.'),
    ...(process.platform === 'linux'
      ? []
      : [note('platform', `${process.platform} is not tested as much as Linux`, 'Report what does not work.')]),
  ]
}

/** Secrets that somebody named and that cannot be kept. */
function secrets(named: readonly string[], env: OpenOptions['env']): Finding[] {
  const { ignored } = createRedactor(named.map((name) => ({ name, value: env[name] ?? '' })))
  return ignored.map(({ name, reason }) =>
    note(
      `secret ${name}`,
      env[name] === undefined ? 'not set' : reason,
      'It is named under secrets in the configuration.',
    ),
  )
}

function servers({ servers, problems, notes }: ServerList<McpServerSettings>): Finding[] {
  return [
    ...problems.map((text) => problem('MCP servers', text, 'Correct the file, then run doctor again.')),
    ...notes.map((text) => note('MCP servers', text, 'Nothing needs to be done if that is meant.')),
    ...servers.map(({ name, settings, trusted, file }) => {
      if (settings.enabled === false) return note(`MCP ${name}`, 'disabled', `It is in ${file}.`)
      if (trusted) return ok(`MCP ${name}`, `may start (try it: retinue mcp tools ${name})`)
      return note(
        `MCP ${name}`,
        `nobody has trusted it in this folder`,
        `Look at ${file}, then: retinue mcp trust ${name}`,
      )
    }),
  ]
}

function providers(models: Pick<Models, 'available'>, local: LocalServer[]): Finding[] {
  const all = models.available()
  const findings = [
    ...all.map(({ provider, ready, hint }) =>
      ready ? ok(`model ${provider}`, hint) : note(`model ${provider}`, 'not set up', hint),
    ),
    ...local.map(localModels),
  ]
  const usable = local.some((server) => server.models.some(({ tools }) => tools !== false))
  if (usable || all.some(({ ready }) => ready)) return findings
  return [...findings, problem('models', 'no provider is ready', 'Set one of the keys above, or try: retinue demo')]
}

/** Whether the model that the configuration names can be had. */
async function chosen(models: Models, name: string | null): Promise<Finding[]> {
  if (name === null) return []
  const choice = await models.resolve(name)
  return [choice.ok ? ok('model', name) : problem('model', choice.message, 'Every run without --model needs it.')]
}

function localModels({ provider, origin, version, models }: LocalServer): Finding {
  const names = models.map(({ name, tools }) => {
    return `${name}${tools === false ? ' (no tools)' : tools === null ? ' (tools unknown)' : ''}`
  })
  const where = `${origin}${version === null ? '' : `, version ${version}`}`
  if (names.length === 0) return note(`model ${provider}`, where, 'It has no models yet.')
  return ok(`model ${provider}`, `${where}: ${names.join(', ')}`)
}
