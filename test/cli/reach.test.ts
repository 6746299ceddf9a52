import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { retinue } from '../support/cli.js'
import { startLoopback } from '../support/loopback/index.js'
import { startLocal } from '../support/loopback/local.js'
import { makeProject, tree } from '../support/project.js'
import { ENTER, openTerminal } from '../support/terminal.js'
import { runOf } from '../support/workspace-work.js'
import { BAD_SERVER } from '../tools/mcp/connect.js'

const WRITES = [
  { text: 'I look.', calls: [{ name: 'read_file', args: { path: 'a.txt' } }] },
  { calls: [{ name: 'write_file', args: { path: 'b.txt', content: 'b\n' } }] },
  { calls: [{ name: 'run_command', args: { command: 'cat a.txt b.txt > c.txt' } }] },
  { text: 'Written.' },
]

describe('--record', () => {
  async function recorded(args: string[]) {
    const server = await startLoopback({ protocol: 'chat', steps: WRITES })
    onTestFinished(() => server.close())
    const cwd = makeProject({ 'a.txt': 'a\n' })
    const env = { OPENAI_API_KEY: 'sk-secret-key-of-the-person', OPENAI_BASE_URL: server.url }
    const ended = await retinue(['-p', 'Write', '--model', 'openai/m', '--mode', 'dangerous', ...args], { cwd, env })
    return { cwd, ended }
  }

  it('writes a script that does the same in a fresh copy, without the model', async () => {
    const { cwd, ended } = await recorded(['--record', '.retinue/script.yaml'])
    expect(ended).toMatchObject({ code: 0, stdout: 'Written.\n', stderr: '' })
    const script = readFileSync(join(cwd, '.retinue/script.yaml'), 'utf8')
    expect(script).not.toContain('sk-secret-key')
    const again = makeProject({ 'a.txt': 'a\n', '.retinue/script.yaml': script })
    const played = await retinue(['-p', 'Write', '--model', 'scripted/.retinue/script.yaml', '--mode', 'dangerous'], {
      cwd: again,
    })
    expect(played).toMatchObject({ code: 0, stdout: 'Written.\n' })
    expect(tree(again)).toEqual(tree(cwd))
    // Where the folder is another, the script does not fit, and says so.
    const other = makeProject({ 'a.txt': 'other\n', '.retinue/script.yaml': script })
    const drifted = await retinue(['-p', 'Write', '--model', 'scripted/.retinue/script.yaml', '--mode', 'dangerous'], {
      cwd: other,
    })
    expect(drifted.code).toBe(1)
  })

  it('can be made afterwards, by replay', async () => {
    const { cwd } = await recorded(['--record', '.retinue/first.yaml'])
    const run_id = (await runOf(cwd)) as string
    await retinue(['replay', run_id, '--script', '.retinue/second.yaml'], { cwd })
    const read = (name: string) => readFileSync(join(cwd, '.retinue', name), 'utf8')
    expect(read('second.yaml')).toBe(read('first.yaml'))
  })

  it('does not write over what is no recording', async () => {
    const { cwd, ended } = await recorded(['--record', 'a.txt'])
    expect(ended).toMatchObject({ code: 42, stderr: expect.stringContaining('something else than a recording') })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('a\n')
  })

  it.each([
    ['nowhere/script.yaml', /the folder .*nowhere does not exist/],
    ['.', /it is a folder/],
    [`${'x'.repeat(300)}.yaml`, /name too long/],
  ])('to %s is refused before anything is asked', async (file, message) => {
    const { cwd, ended } = await recorded(['--record', file])
    expect(ended.code).toBe(42)
    expect(ended.stderr).toMatch(message)
    expect(existsSync(join(cwd, 'b.txt'))).toBe(false)
  })

  it('to a file that may not be written is refused before anything is asked', async () => {
    // A program that runs: not even root may write to it.
    const busy = join(makeProject({}), 'busy')
    copyFileSync('/bin/sleep', busy)
    const running = spawn(busy, ['600'])
    onTestFinished(() => void running.kill())
    await once(running, 'spawn')
    const { cwd, ended } = await recorded(['--record', busy])
    expect(ended.stderr).toMatch(/^retinue: Cannot record to .*busy: ETXTBSY/)
    expect(ended).toMatchObject({ code: 42, stdout: '' })
    expect(existsSync(join(cwd, 'b.txt'))).toBe(false)
  })

  it('leaves nothing behind, and nothing changed, where no run was started', async () => {
    const cwd = makeProject({ 'old.yaml': '# Recorded from run x\n' })
    for (const file of ['new.yaml', 'old.yaml']) {
      const ended = await retinue(['-p', 'Write', '--model', 'scripted/none.yaml', '--record', file], { cwd })
      expect(ended.code).toBe(52)
    }
    expect(existsSync(join(cwd, 'new.yaml'))).toBe(false)
    expect(readFileSync(join(cwd, 'old.yaml'), 'utf8')).toBe('# Recorded from run x\n')
  })

  it.each([
    ['makes a failure of a run that succeeded', '- text: "Over."\n', 1, 'Over.\n', []],
    ['leaves a failure of the run what it is', '- calls: [{ list_dir: {} }]\n', 53, '', ['--max-turns', '1']],
  ])('that fails in the end %s', async (_, last, code, stdout, args) => {
    const script = `agents:\n  root:\n    - calls:\n        - run_command: { command: rm -r out }\n    ${last}`
    const cwd = makeProject({ 's.yaml': script, 'out/.keep': '' })
    const ended = await retinue(
      ['-p', 'Go', '--model', 'scripted/s.yaml', '--mode', 'dangerous', '--record', 'out/s.yaml', ...args],
      { cwd },
    )
    expect(ended).toMatchObject({ code, stdout })
    expect(ended.stderr).toMatch(/^retinue: Cannot record to .*out\/s\.yaml: ENOENT/m)
  })
})

describe('at a terminal, a server that a project file names', () => {
  const mcp = JSON.stringify({ mcpServers: { bad: { command: process.execPath, args: [BAD_SERVER, 'plain'] } } })
  const script = `agents:\n  root:\n    - calls:\n        - mcp__bad__ok: {}\n    - text: "Over."\n`
  const args = ['Call it', '--model', 'scripted/s.yaml', '--mode', 'dangerous']

  it('is started after a yes, and not asked about again', async () => {
    const cwd = makeProject({ '.mcp.json': mcp, 's.yaml': script })
    const terminal = openTerminal(args, cwd)
    await terminal.shows('names the MCP server bad')
    await terminal.shows('bad-server')
    terminal.type(`y${ENTER}`)
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen()).toContain('mcp__bad__ok')
    expect(terminal.screen()).not.toContain('refused')
    const again = openTerminal(args, cwd)
    expect(await again.ended).toBe(0)
    expect(again.screen()).not.toContain('names the MCP server')
    expect(again.screen()).not.toContain('refused')
  })

  it('is left out after a no, and the run says so', async () => {
    const cwd = makeProject({ '.mcp.json': mcp, 's.yaml': script })
    const terminal = openTerminal(args, cwd)
    await terminal.shows('names the MCP server bad')
    terminal.type(ENTER)
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen()).toContain('retinue mcp trust bad')
    expect(terminal.screen()).toContain('refused')
  })
})

describe('doctor', () => {
  it('lists the sandbox, the servers of the project and the models of this machine', async () => {
    const tags = { models: [{ name: 'coder:7b' }, { name: 'old:1b' }] }
    const show = (body: string, capabilities: Record<string, string[]>) => {
      const { model } = JSON.parse(body) as { model: string }
      return { capabilities: capabilities[model] ?? [], model_info: { 'x.context_length': 32768 } }
    }
    const capabilities = { 'coder:7b': ['completion', 'tools'], 'old:1b': ['completion'] }
    const ollama = await startLocal({
      '/api/version': { json: { version: '0.9.0' } },
      '/api/tags': { json: tags },
      '/api/ps': { json: { models: [] } },
      '/api/show': (body, res) => {
        res.writeHead(200, { 'content-type': 'application/json' })
        res.end(JSON.stringify(show(body, capabilities)))
      },
    })
    onTestFinished(() => ollama.close())
    const cwd = makeProject({})
    writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { notes: { command: 'notes-server' } } }))
    const ended = await retinue(['doctor', '--json'], { cwd, env: { OLLAMA_HOST: ollama.origin } })
    const found = JSON.parse(ended.stdout) as { topic: string; state: string; text: string; advice: string | null }[]
    expect(found.find(({ topic }) => topic === 'MCP notes')).toMatchObject({
      state: 'note',
      advice: expect.stringContaining('retinue mcp trust notes'),
    })
    expect(found.filter(({ topic }) => topic === 'model ollama').map(({ text }) => text)).toEqual(
      expect.arrayContaining([expect.stringMatching(/0\.9\.0: coder:7b, old:1b \(no tools\)/)]),
    )
    expect(found.find(({ topic }) => topic === 'sandbox')?.text).toMatch(/bubblewrap/)
    expect(ended.code).toBe(0)
  })
})
