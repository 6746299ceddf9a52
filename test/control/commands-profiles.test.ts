import { describe, expect, it, onTestFinished } from 'vitest'
import { commandsIn } from '../../src/domain/index.js'
import { RetinueError } from '../../src/library/errors.js'
import { openPlace, recordsOf, SECRET, WRITER } from './commands-place.js'

describe('profiles of the store', () => {
  it.each<[string, string, unknown, string]>([
    ['a bad name', 'Mine', {}, '"Mine" is no name of a profile: a profile name begins with a lower-case letter'],
    ['a name that leads elsewhere', '../x', {}, '"../x" is no name of a profile'],
    ['a field that there is not', 'mine', { tool: [] }, 'unknown key "tool": did you mean tools?'],
    ['a model and a pool', 'mine', { model: 'a/b', pool: 'c' }, 'pool: a profile has a model or a pool, not both'],
    ['a budget of nothing', 'mine', { budget: { tool_calls: 0 } }, 'budget: tool_calls must be positive'],
    [
      'too long a prompt',
      'mine',
      { system_prompt: 'x'.repeat(200_000) },
      'the profile has 200020 characters: at most 200000',
    ],
    ['no object', 'mine', null, 'Invalid input: expected object, received null'],
    [
      'a secret',
      'mine',
      { system_prompt: `Use ${SECRET}.` },
      'The secret TOKEN is in it, and models would read it: leave it out.',
    ],
  ])('are refused with %s', async (_, name, profile, message) => {
    const { store, as } = await openPlace(onTestFinished)
    const put = as('admin').putProfile(name, profile, 0)
    await expect(put).rejects.toMatchObject({ code: 'input', message: expect.stringContaining(message) })
    expect(await recordsOf(store)).toEqual({})
  })

  it.each([
    ['a key that is nearly one', { descripton: 'x' }, 'unknown key "descripton": did you mean description?'],
    ['hidden characters', { description: 'a\u001b[2Jb' }, 'description: has characters that cannot be seen'],
  ])('are refused with %s', async (_, profile, message) => {
    const { store, as } = await openPlace(onTestFinished)
    await expect(as('admin').putProfile('mine', profile, 0)).rejects.toMatchObject({
      ...{ code: 'input', message: expect.stringContaining(message) },
    })
    expect(await recordsOf(store)).toEqual({})
  })

  it('have a history, which goes on after they are removed', async () => {
    const { as } = await openPlace(onTestFinished)
    const control = as('admin')
    await control.putProfile('mine', { description: 'One.' })
    await control.removeProfile('mine')
    const history = await as('viewer').history('mine')
    expect(history.map(({ version, by, value }) => [version, by, value])).toEqual([
      [1, 'ada', { description: 'One.' }],
      [2, 'ada', null],
    ])
    expect(await control.history('nobody')).toEqual([])
  })

  it('without a version take the place of what is there, also of many at once', async () => {
    const { open, as } = await openPlace(onTestFinished)
    const other = await open()
    const puts = Array.from({ length: 10 }, (_, i) => {
      return (i % 2 ? as('admin') : as('operator', other)).putProfile('mine', { description: `${i}` })
    })
    expect((await Promise.all(puts)).map(({ version }) => version).sort((a, b) => a - b)).toEqual(
      puts.map((_, i) => i + 1),
    )
  })

  it('stand before others of their name, which are there again when they are removed', async () => {
    const { as } = await openPlace(onTestFinished)
    const control = as('admin')
    await control.putProfile('docs', { description: 'Mine.' }, 0)
    await control.pin('docs', 'global')
    expect((await control.show('docs')).profile).toMatchObject({
      ...{ source: { kind: 'store', version: 1 }, shadows: [{ kind: 'role' }], profile: { description: 'Mine.' } },
    })
    await control.removeProfile('docs')
    expect((await control.show('docs')).profile).toMatchObject({ source: { kind: 'role' }, shadows: [] })
    const [removed] = commandsIn(await control.log({ last: 2 }))
    expect(removed?.message).toBe(
      'The profile docs is no longer in the store; docs is now the one from Retinue (a role that ships).',
    )
  })

  it('that something points at stay, and what it is is said', async () => {
    const { store, as } = await openPlace(onTestFinished)
    const control = as('admin')
    await control.putProfile('mine', {}, 0)
    await control.register({ ...WRITER, profileId: 'mine' })
    await as('viewer').pin('mine', 'user')
    await expect(control.removeProfile('mine')).rejects.toEqual(
      new RetinueError(
        'conflict',
        'The profile mine is in use. First: retinue agents unregister @writer; retinue agents unpin --user --as vera',
      ),
    )
    expect(await store.record('profile', 'mine')).not.toBeNull()
    await control.unregister('@writer')
    await as('viewer').unpin('user')
    await control.removeProfile('mine')
    expect(await store.record('profile', 'mine')).toBeNull()
  })

  it('that are not there are not removed, and where the profile is is said', async () => {
    const { as } = await openPlace(onTestFinished)
    await expect(as('admin').removeProfile('torn')).rejects.toMatchObject({
      code: 'not_found',
      message:
        "There is no profile torn in the store: it comes from .retinue/agents/torn.md (the project's agent file), and is changed there.",
    })
  })
})
