import { spawnSync } from 'node:child_process'
import { cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Authority, type PendingCall, permits } from '../../src/domain/index.js'
import { createHost } from '../../src/host/index.js'
import { builtinTools, callTools, createToolRegistry, type Pipeline } from '../../src/tools/index.js'
import { git, put } from '../host/helpers.js'
import { workbench } from '../tools/workbench.js'

/** What must not be read, in the contents and in the names of files that are out of reach. */
export const CANARY = 'CANARY-7f3a9'
/** The beginning of it, for patterns: they are repeated in answers, and must not look like what they look for. */
export const LURE = 'CANARY-7'

/** A folder with a workspace in it and with what must stay out of reach around it. */
export type Place = {
  /** Holds `ws`, `ws-evil`, `outside` and `mono`. */
  base: string
  /** The workspace: `ws`, or `mono/pkg` for a part of a repository. */
  root: string
}

export type ToolCall = [tool: string, args: object]

/** One way out of the workspace. */
export type Attack = {
  name: string
  /** The workspace: `ws` unless said otherwise. */
  in?: 'mono/pkg'
  prepare?: (place: Place) => void
  calls: (place: Place) => ToolCall[]
  authority?: Partial<Authority>
  /** Done after a call was judged and before it is made, as somebody with a command in another window could. */
  meanwhile?: (place: Place) => void
  /** Further paths, from the folder around the workspace, that must not change. */
  guarded?: string[]
  /** The calls change something inside that the twin needs as it was. */
  fresh?: true
  /** What else must not be in what the model gets to see. */
  unseen?: string
  /** The same without the fence: plain files, cat, git, a shell. Gives what it reads; null where none can be here. */
  twin: ((place: Place) => string) | null
}

/** Made once, copied for each attack. */
export function makeTemplate(): string {
  const base = mkdtempSync(join(tmpdir(), 'retinue-attack-template-'))
  put(base, {
    'ws/a.txt': 'inside\n',
    'ws/sub/b.txt': 'below\n',
    'ws/sub/deep/c.txt': 'deep below\n',
    'ws/docs/guide.txt': 'guide\n',
    'ws/private/key.txt': 'a key\n',
    'ws-evil/secret.txt': `${CANARY}\n`,
    'outside/secret.txt': `${CANARY}\n`,
    [`outside/${CANARY}.txt`]: `${CANARY}\n`,
    'outside/inner/secret.txt': `${CANARY}\n`,
    'mono/pkg/a.txt': 'inside\n',
    'mono/other/secret.txt': 'nothing yet\n',
  })
  for (const folder of ['ws', 'mono']) {
    git(join(base, folder), 'init', '-q', '--template=')
    git(join(base, folder), 'add', '-A')
    git(join(base, folder), 'commit', '-q', '-m', 'first')
  }
  put(base, {
    'ws/.git/hooks/pre-commit': 'exit 0\n',
    'ws/.retinue/retinue.db': 'the log\n',
    'ws/retinue.yaml': 'mode: plan\n',
    'mono/other/secret.txt': `${CANARY}\n`,
  })
  git(join(base, 'mono'), 'commit', '-q', '-m', `the ${CANARY} is out`, '--', 'other')
  put(base, { 'mono/other/secret.txt': `${CANARY} changed\n`, 'mono/pkg/a.txt': 'inside, changed\n' })
  return base
}

export function makePlace(template: string, attack: Attack): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'retinue-attack-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  cpSync(template, base, { recursive: true, verbatimSymlinks: true })
  const place = { base, root: join(base, attack.in ?? 'ws') }
  attack.prepare?.(place)
  return place
}

/** Makes the calls through the pipeline, in the widest mode there is, and gives all that the model gets to see. */
export async function attempt(place: Place, attack: Attack): Promise<string> {
  const host = createHost()
  const tools = builtinTools()
  const authority: Authority = {
    mode: 'dangerous',
    allowed_tools: tools.map((tool) => tool.name),
    allowed_skills: [],
    allowed_mcp_servers: [],
    read_paths: [['**']],
    write_paths: [['**']],
    // Where something is to happen between judging and doing, each call waits for a person.
    rules: [{ mode: 'dangerous', rules: attack.meanwhile ? [{ decision: 'ask', tool: '*', pattern: null }] : [] }],
    network: 'all',
    can_ask_person: true,
    can_spawn_children: false,
    max_delegation_depth: 0,
    ...attack.authority,
  }
  const said: string[] = []
  const workspace = await host.workspace(place.root)
  const { context } = await workbench()
  const pipeline: Pipeline = {
    registry: createToolRegistry(tools),
    authority,
    depth: 0,
    context: {
      ...context,
      workspace,
      repository: async () => {
        const opened = await host.git.open(workspace.root)
        return opened.ok ? opened.repository : null
      },
      mayRead: (path) =>
        permits(authority, { tool: 'read_file', effect: 'read', paths: [{ path, access: 'read' }] }).decision ===
        'allow',
    },
    now: () => 0,
    grants: () => [],
    callsLeft: () => 100,
    onBudgetEnd: () => {},
    record: (_, data) => {
      if ('content' in data) said.push(String(data.content))
    },
    commit: async () => {},
    commitSoon: () => {},
    ask: async () => {
      attack.meanwhile?.(place)
      return { answer: 'allow', grant: null, by: 'ada', note: null }
    },
    keepOutput: (text) => {
      said.push(text)
      return { digest: '', bytes: text.length }
    },
    hasOwnFiles: () => true,
    getOwnFiles: async () => true,
    alone: (work) => work(),
    carryFiles: async () => {},
    abortStatus: () => 'cancelled',
  }
  for (const [i, [tool, args]] of attack.calls(place).entries()) {
    const part = { type: 'tool_call' as const, call_id: `c${i}`, tool, args: JSON.stringify(args) }
    await callTools(pipeline, [{ part, intent: null, result: null } as PendingCall])
  }
  return said.join('\n')
}

/** Everything that an agent must not change, as text: what is around the workspace, and what git and Retinue own. */
export function treasure({ base, root }: Place, guarded: readonly string[] = []): string {
  const rows: string[] = []
  const walk = (folder: string) => {
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name)
      const shown = relative(base, path)
      const stats = lstatSync(path)
      if (stats.isDirectory()) walk(path)
      else if (!isTreasure(shown, guarded)) continue
      else if (stats.isSymbolicLink()) rows.push(`${shown} -> ${readlinkSync(path)}`)
      else rows.push(`${shown}: ${stats.isFile() ? readFileSync(path, 'latin1') : 'special'}`)
    }
  }
  walk(base)
  // What is committed of other folders is theirs, too.
  if (root.endsWith('mono/pkg')) rows.push(git(join(base, 'mono'), 'log', '--format=', '--name-only', '--', 'other'))
  return rows.join('\n')
}

function isTreasure(path: string, guarded: readonly string[]): boolean {
  if (guarded.some((folder) => path.startsWith(folder))) return true
  // What a commit changes, and looking at files may.
  if (/\/\.git\/(index|objects|logs|refs|COMMIT_EDITMSG)/.test(path)) return false
  return !/^(ws|mono\/pkg)\//.test(path) || /\/\.(git|retinue)(\/|$)|^ws\/retinue\.y/.test(path)
}

/** Runs a program as it is, in the workspace, with the outside for a home. Gives its output. */
export function run({ base, root }: Place, program: string, args: string[], input = ''): string {
  const env = { PATH: process.env.PATH ?? '', HOME: join(base, 'outside'), GIT_CONFIG_GLOBAL: '/dev/null' }
  const done = spawnSync(program, args, { cwd: root, env, encoding: 'utf8', input, timeout: 100_000 })
  return `${done.stdout}${done.stderr}`
}
