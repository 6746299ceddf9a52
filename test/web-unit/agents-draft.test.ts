import { expect, it } from 'vitest'
import { keepDraft, readDraft, registryText } from '../../web/src/pages/agents/registry/draft'

function storage() {
  const kept = new Map<string, string>()
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
}

const DRAFT = { version: 3, base: '{}', text: '{ "version": 1' }

it('a draft is kept as it was typed, for its folder alone, until it is taken away', () => {
  const tab = storage()
  keepDraft(tab, '/garden', DRAFT)
  expect([readDraft(tab, '/garden'), readDraft(tab, '/other')]).toEqual([DRAFT, null])
  keepDraft(tab, '/garden', null)
  expect([readDraft(tab, '/garden'), tab.kept.size]).toEqual([null, 0])
})

it('a tab without room for a draft goes on without one', () => {
  const full = {
    ...storage(),
    setItem: () => {
      throw new Error('QuotaExceededError')
    },
  }
  keepDraft(full, '/garden', DRAFT)
  expect(readDraft(full, '/garden')).toBeNull()
})

it('what is no draft is none', () => {
  const tab = storage()
  keepDraft(tab, '/garden', DRAFT)
  const [key = ''] = tab.kept.keys()
  const read = ['{', 'null', '[]', '{"version":"3","base":"","text":""}', '{"version":3,"base":""}'].map((text) => {
    tab.setItem(key, text)
    return readDraft(tab, '/garden')
  })
  expect(read).toEqual([null, null, null, null, null])
})

it('a registry is written as the command line prints it', () => {
  expect(registryText({ version: 1, agents: [] })).toBe('{\n  "version": 1,\n  "agents": []\n}')
})
