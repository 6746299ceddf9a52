import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRetinue, type Delta } from '../../src/index.js'
import { createScriptedModel, modelsOf, type ScriptedModelOptions } from '../../src/testing/index.js'
import { CANARIES } from '../support/canaries.js'
import { retinue } from '../support/cli.js'
import { ENCODINGS } from '../support/encodings.js'
import { git, makeProject } from '../support/project.js'

const HOWS = [
  'as it is',
  'base64',
  'base64 after one byte',
  'base64 at 64 columns',
  'hex',
  'hex with spaces',
  'percent',
  'JSON',
  'unicode escapes',
  'HTML entities, decimal',
]
const FORMS = CANARIES.flatMap(({ name, secret }) =>
  HOWS.map((how) => ({ name, how, text: ENCODINGS[how]?.(secret) ?? '' })),
)
const LEAK = FORMS.map(({ name, how, text }) => `${name} ${how}: ${text}`).join('\n')
const RAW = CANARIES.map(({ secret }) => secret).join(' ')
const ENV = Object.fromEntries(CANARIES.map(({ name, value }) => [name, value]))

/** Whatever a run can take a secret in by: task, instructions, files, commands, words and arguments of the model. */
const STEPS: ScriptedModelOptions['agents'] = {
  root: [
    { reasoning: `I think of ${LEAK}`, text: `I see ${LEAK}`, calls: [{ read_file: { path: 'leak.txt' } }] },
    {
      calls: [
        { run_command: { command: `cat leak.txt leak.txt leak.txt; echo ${JSON.stringify(RAW)} >&2; false` } },
        { write_file: { path: 'copy.txt', content: LEAK } },
        { search_files: { pattern: '.', path: 'leak.txt' } },
      ],
    },
    { calls: [{ edit_file: { path: 'copy.txt', old_text: CANARIES[0]?.secret ?? '', new_text: RAW } }] },
    {
      calls: [
        { read_file: { path: `missing/${ENV.GITHUB_TOKEN}` } },
        { [`tool_${ENV.NPM_TOKEN}`]: { x: RAW } },
        { tool: 'read_file', raw_args: `{"path": "${ENV.OPENAI_API_KEY}` },
        { read_file: { [`${ENV.GITLAB_TOKEN}`]: LEAK } },
      ],
    },
    { calls: [{ git_commit: { message: `with ${RAW}`, paths: ['good.txt'] } }] },
    { calls: [{ git_commit: { message: 'everything' } }] },
    { calls: [{ git_commit: { message: 'good', paths: ['good.txt'] } }] },
    { text: `Done: ${LEAK}` },
    { text: `And again: ${RAW}` },
  ],
}

async function work(env: Record<string, string>) {
  const cwd = makeProject({ 'a.txt': 'one\n' }, { git: true })
  for (const [file, text] of [
    ['leak.txt', LEAK],
    ['AGENTS.md', `Use ${LEAK}`],
    ['good.txt', 'good\n'],
  ] as const) {
    writeFileSync(join(cwd, file), text)
  }
  const model = createScriptedModel({ name: 'test', agents: STEPS })
  const it = await createRetinue({
    cwd,
    env,
    models: modelsOf(model),
    settings: { mode: 'dangerous', budget: { context_tokens: 2_000_000, total_tokens: 20_000_000 } },
  })
  onTestFinished(() => it.close())
  const deltas: Delta[] = []
  const run = it.run({ task: `Use ${LEAK}`, onDelta: (delta) => deltas.push(delta) })
  const result = await run.result()
  const second = await it.run({ task: 'Go on', session_id: result.session_id }).result()
  const events = [...(await it.events(result.run_id)), ...(await it.events(second.run_id))]
  const replayed = [await it.replay(result.run_id), await it.replay(second.run_id)]
  const requests = model.requests.map((request) => request)
  return { cwd, result, second, events, deltas, replayed, requests }
}

/** Every byte below a folder, and whatever is beside it. */
function bytesBelow(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n')
}

function gitObjects(cwd: string): string {
  return execFileSync('git', ['cat-file', '--batch', '--batch-all-objects'], { cwd, maxBuffer: 1e9 }).toString('latin1')
}

/** Forms that are in a text or in bytes (as Latin-1), themselves or written down as JSON. */
function formsIn(text: string): string[] {
  return FORMS.filter(({ text: form }) => {
    const written = [form, JSON.stringify(form).slice(1, -1)]
    return written.some((one) => text.includes(one) || text.includes(Buffer.from(one).toString('latin1')))
  }).map(({ name, how }) => `${name} ${how}`)
}

describe('twenty secrets in ten encodings', () => {
  it('are in nothing that a run leaves behind or says', { timeout: 120_000 }, async () => {
    const { cwd, result, second, events, deltas, replayed, requests } = await work(ENV)
    expect(result).toMatchObject({ outcome: 'completed', text: expect.stringContaining('Done: ') })
    const said = deltas.map((delta) => delta.text).join('')
    const outputs = { result, second, events, said, deltas, replayed, requests }
    for (const [name, output] of Object.entries(outputs)) {
      expect({ [name]: formsIn(JSON.stringify(output)) }).toEqual({ [name]: [] })
    }
    expect({ store: formsIn(bytesBelow(join(cwd, '.retinue'))) }).toEqual({ store: [] })
    expect({ git: formsIn(gitObjects(cwd)) }).toEqual({ git: [] })
    // It was there to be found, and the rest of the work went on.
    for (const { name } of CANARIES) expect(result.text).toContain(`${name} as it is: [secret ${name}]`)
    expect(replayed).toMatchObject([{ ok: true }, { ok: true }])
    expect(git(cwd, 'log', '--format=%s')).toBe('good\nstart\n')
    expect(formsIn(readFileSync(join(cwd, 'leak.txt'), 'latin1'))).toHaveLength(FORMS.length)
  })

  it('would all be there if nobody took them out', { timeout: 120_000 }, async () => {
    const { cwd, result, events, deltas, requests } = await work({})
    const said = deltas.map((delta) => delta.text).join('')
    for (const [name, output] of Object.entries({ result, events, said, requests })) {
      expect({ [name]: formsIn(JSON.stringify(output)).length }).toEqual({ [name]: FORMS.length })
    }
    expect(formsIn(bytesBelow(join(cwd, '.retinue'))).length).toBeGreaterThan(FORMS.length * 0.8)
    expect(formsIn(gitObjects(cwd))).toHaveLength(FORMS.length)
  })

  it('are in nothing that the command line says', { timeout: 120_000 }, async () => {
    const cwd = makeProject({ 'leak.txt': LEAK, 'AGENTS.md': LEAK })
    const agents = { root: [{ text: LEAK, calls: [{ read_file: { path: 'leak.txt' } }] }, { text: `Done: ${LEAK}` }] }
    writeFileSync(join(cwd, 's.yaml'), JSON.stringify({ agents }))
    const model = ['--model', 'scripted/s.yaml']
    const first = await retinue([`Use ${RAW}`, ...model], { cwd, env: ENV })
    expect(first.code).toBe(0)
    const streamed = await retinue([`Use ${RAW}`, ...model, '--output-format', 'stream-json'], { cwd, env: ENV })
    const [id] = /"run_id":"(\w+)"/.exec(streamed.stdout)?.slice(1) ?? []
    const shown = await retinue(['show', id ?? '', '--full', '--json'], { cwd, env: ENV })
    const plain = await retinue(['show', id ?? '', '--full'], { cwd, env: ENV })
    const listed = await retinue(['runs'], { cwd, env: ENV })
    const failed = await retinue([`Use ${RAW}`, '--model', `scripted/${ENV.GITHUB_TOKEN}.yaml`], { cwd, env: ENV })
    expect(failed.code).not.toBe(0)
    for (const [name, { stdout, stderr }] of Object.entries({ first, streamed, shown, plain, listed, failed })) {
      expect({ [name]: formsIn(stdout + stderr) }).toEqual({ [name]: [] })
    }
    expect(first.stdout).toContain('[secret GITHUB_TOKEN]')
    expect({ store: formsIn(bytesBelow(join(cwd, '.retinue'))) }).toEqual({ store: [] })
  })
})

it('a secret that is a word of the log destroys no log', async () => {
  const script = { 's.yaml': JSON.stringify({ agents: { root: [{ text: 'The work is completed.' }] } }) }
  for (const word of ['retinue', 'created', 'completed', 'message']) {
    const cwd = makeProject(script)
    const env = { MY_TOKEN: word }
    const ended = await retinue(['-p', '--model', 'scripted/s.yaml', `Say that the ${word} is there`], { cwd, env })
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([0, 'The work is completed.\n', ''])
    expect((await retinue(['runs'], { cwd, env })).stdout).toContain(' completed ')
  }
})
