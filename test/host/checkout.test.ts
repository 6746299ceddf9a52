import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { plainAddress } from '../../src/host/checkout.js'
import { createHost } from '../../src/host/index.js'
import { git, makeProject } from '../support/project.js'

const host = createHost()

describe('a checkout', () => {
  it('has one id, however it is reached and however many ask at once; a copy of it has another', async () => {
    const folder = makeProject({ 'a.txt': 'a\n' })
    const link = join(makeProject({}), 'link')
    symlinkSync(folder, link)
    const asked = await Promise.all([folder, link, folder, link].map((path) => host.checkout(path)))
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1)
    const copy = join(makeProject({}), 'copy')
    cpSync(folder, copy, { recursive: true, preserveTimestamps: true })
    expect((await host.checkout(copy)).id).not.toBe(asked[0]?.id)
  })

  it('is one of those with the same origin, at the same place in it', async () => {
    const origin = makeProject({ 'packages/a/a.txt': 'a\n' }, { git: true })
    const place = makeProject({})
    git(place, 'clone', '--quiet', origin, 'one')
    git(place, 'clone', '--quiet', origin, 'two')
    const at = async (path: string) => (await host.checkout(join(place, path))).origin
    expect(await at('one')).toBe(origin)
    expect(await at('two')).toBe(origin)
    expect(await at('one/packages/a')).toBe(`${origin}//packages/a`)
    expect((await host.checkout(origin)).origin).toBe(null)
    expect((await host.checkout(makeProject({}))).origin).toBe(null)
  })

  it.each([
    ['https://git.example/acme/shop.git', 'git.example/acme/shop'],
    ['https://ada:token@Git.example:8443/acme/shop/', 'git.example/acme/shop'],
    ['ssh://git@git.example:22/acme/shop.git', 'git.example/acme/shop'],
    ['git@git.example:acme/shop.git', 'git.example/acme/shop'],
    ['git.example:/acme/shop', 'git.example/acme/shop'],
    ['/srv/git/shop.git', '/srv/git/shop'],
    ['/srv/clones/home/../../git/shop.git/', '/srv/git/shop'],
    ['../../git/shop', '/srv/git/shop'],
    ['file:///srv/git/shop.git', '/srv/git/shop'],
  ])('comes from the same place by whatever way: %s', (url, plain) => {
    expect(plainAddress(url, '/srv/clones/home')).toBe(plain)
  })
})
