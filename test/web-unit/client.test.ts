import { afterEach, expect, it, vi } from 'vitest'
import { api, at } from '../../web/src/api/client'

afterEach(() => {
  vi.unstubAllGlobals()
})

it('says what the server refused in its words, with what nobody would see', async () => {
  const faults = [{ path: 'name', message: 'there is no \u202eretirw' }]
  const error = { code: 'not_found', message: 'There is no agent a\u001bb.', faults }
  vi.stubGlobal('localStorage', { getItem: () => null })
  vi.stubGlobal('fetch', async () => Response.json({ error }, { status: 404 }))
  await expect(api('/agents/x')).rejects.toMatchObject({
    ...{ status: 404, code: 'not_found', message: 'There is no agent a�b.' },
    faults: [{ path: 'name', message: 'there is no �retirw' }],
  })
})

it('makes paths of ids, whatever is in them', () => {
  expect(at`/agents/${'a/b?'}/x?session_id=${'ü&'}`).toBe('/agents/a%2Fb%3F/x?session_id=%C3%BC%26')
})
