import { describe, expect, it } from 'vitest'
import { appliedInWords, landingInWords, receiptInWords, turnInWords } from '../../src/domain/index.js'
import { landingOf, receiptOf } from '../support/tree-events.js'

const COMMIT = 'c'.repeat(40)

describe('the words for the result of a run', () => {
  it('say what landed and that it is not committed', () => {
    expect(landingInWords(landingOf(), 'r')).toEqual([
      '2 files brought into the folder, uncommitted: gutter.md, slates.md (added)',
    ])
  })

  it('say which commit has it, or why none does', () => {
    const [committed] = landingInWords(landingOf({ landed_commit: COMMIT }), 'r')
    expect(committed).toBe('2 files brought into the folder, committed as cccccccccc: gutter.md, slates.md (added)')
    const [not] = landingInWords(landingOf({ reason: 'the files are there, but were not committed: no name' }), 'r')
    expect(not).toBe(
      '2 files brought into the folder, uncommitted (the files are there, but were not committed: no name): gutter.md, slates.md (added)',
    )
  })

  it('say where it is kept, why, and the one command that brings it in', () => {
    const kept = { state: 'kept', branch: 'retinue/r/integration', reason: 'the folder changed: a.md' } as const
    expect(landingInWords(landingOf(kept), 'r')).toEqual([
      '2 files kept on retinue/r/integration, not in the folder: the folder changed: a.md',
      'bring them in with: retinue apply r',
    ])
  })

  it('say one place where it is brought in', () => {
    const away = {
      state: 'kept',
      branch: null,
      reason: 'it ended elsewhere: retinue apply r there',
      away: true,
    } as const
    expect(landingInWords(landingOf(away), 'r')).toEqual([
      '2 files kept, not in the folder: it ended elsewhere: retinue apply r there',
    ])
  })

  it('say nothing where nothing was changed', () => {
    expect(landingInWords(landingOf({ files: [] }), 'r')).toEqual([])
    expect(landingInWords(landingOf({ files: [], state: 'kept' }), 'r')).toEqual([])
  })

  it('say why nothing is known of what was changed', () => {
    expect(landingInWords(landingOf({ files: [], state: 'kept', reason: 'the disk is full' }), 'r')).toEqual([
      'nothing was brought into the folder: the disk is full',
      'see what there is with: retinue worktrees',
    ])
  })

  it('name some of many files', () => {
    const paths = Array.from({ length: 10 }, (_, i) => `${i}.md`)
    expect(appliedInWords({ paths, commit: null })).toBe(
      '10 files brought into the folder, uncommitted: 0.md, 1.md, 2.md, 3.md, 4.md, 5.md, 6.md, 7.md and 2 more',
    )
    expect(appliedInWords({ paths: [], commit: null })).toBe('All of it is in the folder already')
  })
})

describe('the words for the work of a sub-agent', () => {
  it('say what was merged, and what no commit has', () => {
    const merged = { commit: 'd'.repeat(40), kind: 'fast_forward' } as const
    const kept = { branch: 'retinue/r/a1', path: '.retinue/worktrees/r/a1' }
    expect(receiptInWords(receiptOf({ merged, kept, left_out: ['dist/a.js'] }))).toEqual([
      ['branch', 'retinue/r/a1, from bbbbbbbbbb'],
      ['commits', 'cccccccccc Mend the gutter (Retinue a1)'],
      ['files', 'modified gutter.md'],
      ['merged', 'as dddddddddd, by fast-forward'],
      ['kept', 'on retinue/r/a1, in .retinue/worktrees/r/a1'],
      ['left out', 'dist/a.js: git ignores it, so that no commit has it; it is in .retinue/worktrees/r/a1'],
    ])
  })

  it('say what stayed where it was written, in another checkout', () => {
    const merged = { commit: 'd'.repeat(40), kind: 'fast_forward' } as const
    expect(receiptInWords(receiptOf({ merged, left_out: ['dist/a.js', 'b.log'] })).at(-1)).toEqual([
      'left out',
      'dist/a.js, b.log: git ignores them, so that no commit has them; they were left behind in another checkout',
    ])
  })

  it('say where it is kept', () => {
    const kept = { branch: 'retinue/r/a1', path: '.retinue/worktrees/r/a1' }
    expect(receiptInWords(receiptOf({ kept })).slice(3)).toEqual([
      ['merged', 'no'],
      ['kept', 'on retinue/r/a1, in .retinue/worktrees/r/a1'],
    ])
  })

  it('do not say that nothing was not merged', () => {
    expect(receiptInWords(receiptOf({ files: [], commits: [] }))).toEqual([
      ['branch', 'retinue/r/a1, from bbbbbbbbbb'],
      ['files', 'none changed'],
    ])
  })
})

it('whom a sub-agent waits for is counted where there are many', () => {
  expect(turnInWords(['a1'])).toBe('waits to write until a1 closed')
  expect(turnInWords(['a1', 'a2', 'a3', 'a4', 'a5'])).toBe('waits to write until a1, a2, a3 and 2 more closed')
})
