import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRetinue, type Retinue } from '../../src/index.js'
import { dataOf } from '../support/bench.js'
import { lines, retinue } from '../support/cli.js'
import { makeProject, tree } from '../support/project.js'
import { openTerminal } from '../support/terminal.js'
import { runOf } from '../support/workspace-work.js'

const script = (content: string) => ({
  agents: {
    root: [
      { calls: [{ write_file: { path: 'a.txt', content } }] },
      { calls: [{ ask_user: { question: 'Which?', options: ['one', 'two'] } }] },
      { expect: 'neither', text: 'All done.' },
    ],
  },
})

async function terminal(content = 'hello\n') {
  const cwd = makeProject({ 's.yaml': JSON.stringify(script(content)) })
  const shown = openTerminal(['Take a note', '--model', 'scripted/s.yaml'], cwd)
  await shown.asks()
  return { cwd, shown, run_id: (await runOf(cwd)) as string }
}

async function open(cwd: string): Promise<Retinue> {
  const opened = await createRetinue({ cwd, store: join(cwd, '.retinue', 'retinue.db') })
  onTestFinished(() => opened.close())
  return opened
}

describe('retinue answer', () => {
  it('lists what is asked and answers it; the terminal that asks withdraws its question and says who did', async () => {
    const { cwd, shown, run_id } = await terminal()
    const listed = await retinue(['answer', run_id], { cwd })
    expect(listed.stdout.split('\n')).toEqual([
      '  │ hello',
      '  │ ',
      '? root/c1 write_file: create a.txt, 1 line, 6 bytes (writes ask in normal mode)',
      `  retinue answer ${run_id} --call root/c1 --allow | --deny | --always (every write_file)`,
      '',
    ])
    const answered = await retinue(['answer', run_id, '--allow'], { cwd })
    expect([answered.code, answered.stdout]).toEqual([0, `Answered root/c1 of run ${run_id}\n`])
    await shown.shows('→ answered elsewhere by person: yes')
    await shown.shows('Which?')
    expect(tree(cwd)).toMatchObject({ 'a.txt': 'hello\n' })
    const asked = await retinue(['answer', run_id, '--json'], { cwd })
    expect(lines(asked.stdout)).toEqual([
      {
        ...{ kind: 'question', agent_id: 'root', call_id: 'c2', asked_at: expect.any(Number) },
        ...{ text: 'Which?', options: ['one', 'two'] },
      },
    ])
    const wrong = await retinue(['answer', run_id, '--allow'], { cwd })
    expect([wrong.code, wrong.stderr]).toEqual([
      42,
      'retinue: It is a question: answer it with --text, or with --deny not at all\n',
    ])
    const text = await retinue(['answer', run_id, '--text', 'neither', '--call', 'c2', '--json'], { cwd })
    expect(lines(text.stdout)).toEqual([{ run_id, agent_id: 'root', call_id: 'c2', kind: 'question', text: 'neither' }])
    await shown.shows('→ answered elsewhere by person: neither')
    await shown.shows('All done.')
    expect(await shown.ended).toBe(0)
    expect(shown.screen()).not.toContain('not answered')
    const late = await retinue(['answer', run_id, '--deny'], { cwd })
    expect([late.code, late.stderr]).toEqual([42, `retinue: Run ${run_id} asks nothing\n`])
    expect((await retinue(['answer', run_id], { cwd })).stdout).toBe(`Run ${run_id} asks nothing\n`)
  })

  it('says where not all is shown that a yes would be to', async () => {
    const { cwd, run_id } = await terminal(`${'x'.repeat(50_000)}\n`.repeat(5))
    const { stdout } = await retinue(['answer', run_id], { cwd })
    expect(stdout.split('\n').slice(-4)).toEqual([
      '! Its middle is left out here: a yes is to that, too.',
      '? root/c1 write_file: create a.txt, 5 lines, 250,005 bytes (writes ask in normal mode)',
      `  retinue answer ${run_id} --call root/c1 --allow | --deny | --always (every write_file)`,
      '',
    ])
  })

  it('says no with a reason, in the name of whoever answers', async () => {
    const { cwd, shown, run_id } = await terminal()
    const other = await open(cwd)
    const no = { kind: 'permission', agent_id: 'root', call_id: 'c1', answer: 'deny', note: 'not here' } as const
    await other.answer(run_id, no, 'alice')
    await shown.shows('→ answered elsewhere by alice: no: not here')
    await shown.shows('alice said no: not here')
    expect(dataOf(await other.events(run_id), 'permission.answered')).toEqual([
      { call_id: 'c1', answer: 'deny', grant: null, by: 'alice', note: 'not here' },
    ])
    expect(tree(cwd)).not.toHaveProperty('a.txt')
  })
})
