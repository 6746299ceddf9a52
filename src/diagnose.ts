import { type OpenOptions, openProject } from './open.js'

export type Finding = {
  topic: string
  /** ok: nothing to do. note: works, with less. problem: something will not work. */
  state: 'ok' | 'note' | 'problem'
  text: string
  /** What to do about it. */
  advice: string | null
}

/** What this machine and folder have and lack. Looks at everything, whatever is broken. */
export async function diagnose(options: OpenOptions): Promise<Finding[]> {
  const opened = await openProject(options).catch((error: Error) => error)
  if (opened instanceof Error)
    return [...platform(), problem('configuration', opened.message, 'Correct the file, then run doctor again.')]
  const { host, models, config, retinue } = opened
  try {
    const facts = await host.facts()
    const files = config.sources.map(({ file }) => file).join(', ')
    const runs = await retinue.runs({ limit: 1000 })
    const open = runs.filter((run) => run.status === 'interrupted')
    return [
      ...platform(),
      facts.git_version
        ? ok('git', facts.git_version)
        : note('git', 'not found', 'Install git: the git tools and the base of a run need it.'),
      facts.sandbox.kind === 'none'
        ? note('sandbox', facts.sandbox.reason, 'Keep to plan or normal mode where you do not trust the task.')
        : ok('sandbox', facts.sandbox.kind),
      ok('configuration', files === '' ? 'defaults only (retinue init writes a file to start from)' : files),
      ok('store', `${runs.length} runs`),
      ...(open.length > 0
        ? [note('runs', `${open.length} interrupted`, `Go on with: retinue resume ${open[0]?.run_id}`)]
        : []),
      ...providers(models),
    ]
  } finally {
    await retinue.close()
  }
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

function providers(models: { available(): { provider: string; ready: boolean; hint: string }[] }): Finding[] {
  const all = models.available()
  const findings = all.map(({ provider, ready, hint }) =>
    ready ? ok(`model ${provider}`, hint) : note(`model ${provider}`, 'not set up', hint),
  )
  if (all.some(({ ready }) => ready)) return findings
  return [...findings, problem('models', 'no provider is ready', 'Set one of the keys above, or try: retinue demo')]
}

function ok(topic: string, text: string): Finding {
  return { topic, state: 'ok', text, advice: null }
}

function note(topic: string, text: string, advice: string): Finding {
  return { topic, state: 'note', text, advice }
}

function problem(topic: string, text: string, advice: string): Finding {
  return { topic, state: 'problem', text, advice }
}
