import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createHost, createRetinue } from '../../index.js'
import { DEMO_FILES, DEMO_PROFILES, DEMO_SCRIPT, DEMO_TASK } from '../demo-project.js'
import { drive } from '../drive.js'
import { paintFor } from '../style.js'

/** A real run: real files, real git, a real log. Only the model is a script. */
export async function demo(): Promise<number> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'retinue-demo-')))
  await writeProject(cwd)
  const { bold, dim } = paintFor(process.stdout, process.env)
  const say = (text: string) => process.stdout.write(`${text}\n`)
  say(`${bold('A run in a temporary repository, with a scripted model:')} ${cwd}`)
  const host = createHost()
  const { sandbox } = await host.facts()
  // Without a sandbox every command asks in auto mode, and nobody may be there. What runs here is our own.
  const mode = sandbox.kind === 'none' ? 'dangerous' : 'auto'
  say(dim(`One agent with three sub-agents, in ${mode} mode. Around commands: ${sandbox.reason}`))
  say(dim(`The task: ${DEMO_TASK}\n`))
  const retinue = await createRetinue({
    cwd,
    host,
    settings: {
      mode,
      model: { name: 'scripted/.retinue/demo.yaml', source: 'user' },
      delegation: { profiles: DEMO_PROFILES },
    },
  })
  try {
    const code = await drive(retinue, { outputFormat: 'text' }, (watching) =>
      retinue.run({ task: DEMO_TASK, ...watching }),
    )
    const [run] = await retinue.runs({ limit: 1 })
    const id = run?.run_id ?? ''
    say('\nEvery step is in the log. Look again:')
    say(`  cd ${cwd}`)
    for (const [command, shows] of [
      [`retinue show ${id}`, 'the tree, the contracts and what happened; --full for everything'],
      [`retinue show ${id} a2`, 'one sub-agent: its contract, what it was refused, its report'],
      [`retinue replay ${id}`, 'rebuild every request of every agent from the log'],
      [`retinue diff ${id}`, 'what they changed in worktrees of their own'],
      ['git status; git diff', 'the same in the folder, uncommitted'],
    ] as const)
      say(`  ${command.padEnd(28)} ${dim(shows)}`)
    say(dim('In a checkout, `retinue` is `node bin/retinue.js` with --cwd.'))
    return code
  } finally {
    await retinue.close()
  }
}

async function writeProject(cwd: string): Promise<void> {
  const files = { ...DEMO_FILES, '.retinue/demo.yaml': DEMO_SCRIPT, '.retinue/.gitignore': '*\n' }
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true })
    await writeFile(join(cwd, name), text)
  }
  const git = (...args: string[]) => promisify(execFile)('git', args, { cwd })
  await git('init', '--quiet')
  await git('add', '--all')
  const identity = ['-c', 'user.name=Retinue demo', '-c', 'user.email=demo@localhost']
  await git(...identity, 'commit', '--quiet', '--message', 'A shop with a bug')
}
