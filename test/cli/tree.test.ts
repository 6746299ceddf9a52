import { describe, expect, it } from 'vitest'
import { paintFor } from '../../src/cli/style.js'
import { rowsOf } from '../../src/cli/tree/collapse.js'
import { type TreeView, treeLines } from '../../src/cli/tree/lines.js'
import { cut, cutStart, widthOf, wrap } from '../../src/cli/tree/width.js'
import { emptyTree, growTree, type StoredEvent } from '../../src/domain/index.js'
import { eventsOfRun } from '../support/tree-events.js'

const grown = (events: StoredEvent[]) => events.reduce(growTree, emptyTree())
const view = (some: Partial<TreeView> = {}): TreeView => ({
  ...{ columns: 100, rows: 40, now: 1_012_000, paint: paintFor({}, {}), speech: new Map() },
  ...some,
})

/** Five sub-agents, one of each kind, and one below them. */
function five() {
  const run = eventsOfRun()
  run.root('Mend the roof')
  run.ask('root', 'q1')
  run.answer('root', 'q1', 1500, 0.02)
  run.call('root', 'c1', 'spawn_await', 'all', { effect: 'delegate', args: { job_ids: '*' } })
  const [a1, a2, a3, a4] = ['a1', 'a2', 'a3', 'a4', 'a5'].map((id) =>
    run.create('root', id, id === 'a1' ? { title: 'Look at the slates', profile: 'researcher' } : {}),
  )
  for (const child of [a1, a2, a3, a4]) child?.start()
  run.call('a1', 'c1', 'read_file', 'src/slates.ts')
  a3?.end()
  a4?.end('timeout', 'no time left')
  run.create('a2', 'a2.1').start()
  run.ask('a2.1', 'q1')
  return run
}

describe('the tree as lines', () => {
  it('has a line for each agent with what it does, and one with totals', () => {
    expect(treeLines(grown(five().events), view())).toEqual([
      '● root Mend the roof                   waits for a1, a2 and a5    1 call  1.5k tokens  $0.020  12 s',
      '├ ● a1 researcher: Look at the slates  read_file src/slates.ts    1 call                       12 s',
      '├ ● a2 Task of a2                      waits for a2.1                                          12 s',
      '│ └ ● a2.1 Task of a2.1                asks the model                                          12 s',
      '├ ✓ a3 Task of a3                                                                               0 s',
      '├ ✗ a4 Task of a4                      timeout: no time left                                    0 s',
      '└ ○ a5 Task of a5                      waits for a slot',
      '6 sub-agents: 3 at work, 1 waiting, 1 done, 1 failed · 2 calls · 1.5k tokens · $0.020 · 12 s',
    ])
  })

  it('tells what is incomplete from what is done', () => {
    const run = eventsOfRun()
    run.root('Mend the roof')
    const children = Array.from({ length: 9 }, (_, i) => run.create('root', `a${i + 1}`))
    for (const child of children.slice(0, 7)) child.end()
    for (const child of children.slice(7)) child.end('budget_exceeded', 'no calls left')
    const tree = grown(run.events)
    const paint = paintFor({ isTTY: true }, {})
    expect(treeLines(tree, view())[8]).toMatch(/^├ ! a8 Task of a8 +incomplete, budget_exceeded: no calls left/)
    expect(treeLines(tree, view({ paint }))[8]).toContain('\u001b[33m!\u001b[39m')
    expect(treeLines(tree, view()).at(-1)).toMatch(/^9 sub-agents: 7 done, 2 incomplete · /)
    expect(treeLines(tree, view({ rows: 9 })).map((line) => line.trimEnd().slice(0, 26).trimEnd())).toEqual([
      '● root Mend the roof',
      '├ ✓ 7 done (a1 … a7)',
      '└ ! 2 incomplete (a8, a9)',
      expect.any(String),
    ])
  })

  it('shows what was under way as interrupted where its process is gone', () => {
    const lines = treeLines(grown(five().events), view({ now: 1_002_000, interrupted: true }))
    expect(lines.map((line) => line.replace(/ {2,}/g, '  '))).toEqual([
      '! root Mend the roof  interrupted  1 call  1.5k tokens  $0.020  2 s',
      '├ ! a1 researcher: Look at the slates  interrupted  1 call  2 s',
      '├ ! a2 Task of a2  interrupted  2 s',
      '│ └ ! a2.1 Task of a2.1  interrupted  2 s',
      '├ ✓ a3 Task of a3  0 s',
      '├ ✗ a4 Task of a4  timeout: no time left  0 s',
      '└ ! a5 Task of a5  interrupted',
      '6 sub-agents: 4 interrupted, 1 done, 1 failed · 2 calls · 1.5k tokens · $0.020 · 2 s',
    ])
  })

  it('shows the last words of a model that is writing, and that a cost is not known', () => {
    const run = five()
    run.answer('a1', 'q1', 10, null)
    const speech = new Map([['a2.1', 'and so\nthe roof leaks']])
    const lines = treeLines(grown(run.events), view({ speech }))
    expect(lines[3]).toContain('“and so ⏎ the roof leaks')
    const long = new Map([['a2.1', `${'and on '.repeat(20)}to the end`]])
    expect(treeLines(grown(run.events), view({ speech: long }))[3]).toMatch(/ {2}…\S.* to the end {2}/)
    expect(lines[1]).toContain('$?')
    expect(lines.at(-1)).toContain('cost unknown')
  })

  it('keeps control characters out', () => {
    const run = eventsOfRun()
    run.root()
    run.create('root', 'a1', { title: 'red \u001b[31m\nnext\tline' })
    const lines = treeLines(grown(run.events), view())
    expect(lines).toHaveLength(3)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point
    expect(lines.join('')).not.toMatch(/[\u0000-\u001f]/)
  })

  it('is coloured where that is wanted, and says the same without', () => {
    const tree = grown(five().events)
    const coloured = treeLines(tree, view({ paint: paintFor({ isTTY: true }, {}) }))
    expect(coloured.join('\n')).toContain('\u001b[31m✗\u001b[39m')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
    expect(coloured.map((line) => line.replace(/\u001b\[\d+m/g, ''))).toEqual(treeLines(tree, view()))
    expect(treeLines(tree, view({ paint: paintFor({ isTTY: true }, { NO_COLOR: '1' }) }))).toEqual(
      treeLines(tree, view()),
    )
  })
})

describe('a screen that is too small', () => {
  const many = (count: number) => {
    const run = eventsOfRun()
    run.root()
    const children = Array.from({ length: count }, (_, i) => run.create('root', `a${i + 1}`, { title: `屋根 ${i} 🏠` }))
    return { run, children }
  }

  it('is never passed, in height or width, whatever the tree', () => {
    const { run, children } = many(200)
    const trees = [
      grown(run.events),
      ...[0, 100, 190].map((done) => {
        for (const child of children.slice(0, done + 9)) child.start()
        for (const child of children.slice(0, done)) child.end(done === 100 ? 'error' : 'completed', '壊れた')
        return grown(run.events)
      }),
    ]
    for (const tree of trees) {
      for (const rows of [2, 3, 4, 5, 6, 8, 24, 60, 300]) {
        for (const columns of [2, 5, 12, 30, 41, 80, 200]) {
          const lines = treeLines(tree, view({ rows, columns }))
          expect(lines.length).toBeLessThan(rows)
          expect(lines.length).toBeGreaterThan(0)
          for (const line of lines) expect(widthOf(line)).toBeLessThan(columns)
        }
      }
    }
  })

  it('collapses what is finished, and keeps what is at work', () => {
    const { run, children } = many(30)
    for (const child of children) child.start()
    for (const child of children.slice(0, 12)) child.end()
    for (const child of children.slice(12, 14)) child.end('error', 'broken')
    const lines = treeLines(grown(run.events), view({ rows: 25 }))
    expect(lines[1]).toContain('├ ✓ 12 done (a1 … a12)')
    expect(lines[2]).toContain('├ ✗ 2 failed (a13, a14)')
    expect(lines.slice(3, 19).map((line) => line.match(/● (a\d+)/)?.[1])).toEqual(
      children.slice(14).map((_, i) => `a${i + 15}`),
    )
    expect(lines).toHaveLength(20)
    // With room for everything nothing is left out.
    expect(treeLines(grown(run.events), view({ rows: 50 }))).toHaveLength(32)
  })

  it('first hides what is below finished branches', () => {
    const run = eventsOfRun()
    run.root()
    const parents = ['a1', 'a2'].map((id) => run.create('root', id))
    for (const parent of parents) parent.start()
    for (const [parent, below] of [
      ['a1', 4],
      ['a2', 4],
    ] as const) {
      for (let i = 1; i <= below; i++) {
        const child = run.create(parent, `${parent}.${i}`)
        child.start()
        run.answer(`${parent}.${i}`, 'q', 100, 0)
        if (parent === 'a1') child.end()
      }
    }
    parents[0]?.end()
    const rows = rowsOf(grown(run.events), 8)
    expect(rows.map((row) => (row.kind === 'agent' ? [row.agent.id, row.hidden] : row.standing))).toEqual([
      ['root', 0],
      ['a1', 4],
      ['a2', 0],
      ['a2.1', 0],
      ['a2.2', 0],
      ['a2.3', 0],
      ['a2.4', 0],
    ])
    // What a line stands for is counted with it.
    expect(treeLines(grown(run.events), view({ rows: 12 }))[1]).toMatch(/✓ a1 \(\+4\) .* 400 tokens/)
    // Then the deepest go, though they are at work.
    const deeper = rowsOf(grown(run.events), 4)
    expect(deeper.map((row) => (row.kind === 'agent' ? [row.agent.id, row.hidden] : row.standing))).toEqual([
      ['root', 0],
      ['a1', 4],
      ['a2', 4],
    ])
  })

  it('has those that wait to begin share a line before anybody at work does, then the oldest', () => {
    const { run, children } = many(100)
    for (const child of children.slice(0, 30)) child.start()
    for (const child of children.slice(0, 10)) child.end()
    const lines = treeLines(grown(run.events), view({ rows: 40 }))
    expect(lines).toHaveLength(24)
    expect(lines[22]).toContain('└ ○ 70 waiting for a slot (a31 … a100)')
    const small = treeLines(grown(run.events), view({ rows: 14 }))
    expect(small).toHaveLength(10)
    expect(small.slice(1, 4).map((line) => line.trimEnd().slice(0, 32).trimEnd())).toEqual([
      '├ ✓ 10 done (a1 … a10)',
      '├ ● 15 more at work (a11 … a25)',
      expect.stringContaining('├ ● a26'),
    ])
    expect(small.at(-1)).toMatch(/^100 sub-agents: 20 at work, 70 waiting, 10 done/)
  })
})

describe('the width of a text', () => {
  it('counts columns, not characters', () => {
    expect(['abc', 'äö', '屋根', 'e\u0301', '🏠', '한글', '✓ ●', 'a\u200bb', '🇩🇪'].map(widthOf)).toEqual([
      3, 2, 4, 1, 2, 4, 3, 2, 4,
    ])
  })

  it('is what texts are cut and broken by', () => {
    expect([0, 1, 2, 3, 4, 5].map((columns) => cut('屋根屋', columns))).toEqual(['', '…', '…', '屋…', '屋…', '屋根…'])
    expect(cut('屋根屋', 6)).toBe('屋根屋')
    expect(cut('e\u0301e\u0301', 2)).toBe('e\u0301e\u0301')
    expect(['abcdef', '屋根屋'].map((text) => cutStart(text, 4))).toEqual(['…def', '…屋'])
    expect(wrap('ab屋根c', 3)).toEqual(['ab', '屋', '根c'])
  })
})
