import { expect, test } from 'vitest'
import { type Row, rowsOf } from '../../web/src/pages/run/tree/rows.js'

type Agent = { id: string; children: Agent[] }
const agent = (id: string, ...children: Agent[]): Agent => ({ id, children })
const tree = agent('root', agent('a1', agent('a1.1'), agent('a1.2', agent('a1.2.1'))), agent('a2'))
const all = { folded: new Set<string>(), wanted: null }

/** `open`: v, folded: >, not looked for: (id). Guides: | where its siblings go on below it. */
function drawn(rows: Row<Agent>[]): string[] {
  return rows.map(({ agent, guides, open, found }) => {
    const lines = guides.map((goes_on) => (goes_on ? '|' : '.')).join('')
    const sign = open === null ? ' ' : open ? 'v' : '>'
    return `${lines}${sign}${found ? agent.id : `(${agent.id})`}`
  })
}

test('agents are shown depth first, each below the one that asked for it', () => {
  expect(drawn(rowsOf(tree, all))).toEqual(['vroot', '|va1', '|| a1.1', '|.va1.2', '|.. a1.2.1', '. a2'])
})

test('each row says where it is for those who do not see the tree', () => {
  expect(rowsOf(tree, all).map(({ agent, level, place, siblings }) => [agent.id, level, place, siblings])).toEqual([
    ['root', 0, 1, 1],
    ['a1', 1, 1, 2],
    ['a1.1', 2, 1, 2],
    ['a1.2', 2, 2, 2],
    ['a1.2.1', 3, 1, 1],
    ['a2', 1, 2, 2],
  ])
})

test('what is folded hides all below it', () => {
  expect(drawn(rowsOf(tree, { ...all, folded: new Set(['a1']) }))).toEqual(['vroot', '|>a1', '. a2'])
})

test('one that is looked for is shown with all above it, folded or not', () => {
  const wanted = ({ id }: Agent) => id === 'a1.2.1'
  expect(drawn(rowsOf(tree, { folded: new Set(['a1']), wanted }))).toEqual([
    'v(root)',
    '.v(a1)',
    '..v(a1.2)',
    '... a1.2.1',
  ])
})

test('nothing is shown where nothing is like that, or nobody has begun', () => {
  expect(rowsOf(tree, { ...all, wanted: () => false })).toEqual([])
  expect(rowsOf<Agent>(null, all)).toEqual([])
})
