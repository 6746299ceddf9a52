// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is what a person writes into the settings.
import { describe, expect, it } from 'vitest'
import { mcpServersSettingsSchema } from '../../../src/tools/index.js'
import { targetOf } from '../../../src/tools/mcp/settings.js'

describe('settings of a server', () => {
  it('name a command or an address', () => {
    const good = { a: { command: 'npx', args: ['-y', 'x'] }, 'b-2': { url: 'https://example.org/mcp', type: 'http' } }
    expect(mcpServersSettingsSchema.parse(good)).toEqual(good)
  })

  it.each([
    [{}, ['command'], 'a server needs a command or a url'],
    [{ command: 'a', url: 'http://b' }, ['url'], 'a server has a command or a url, not both'],
    [{ type: 'http', command: 'a' }, ['type'], 'http needs a url'],
    [{ type: 'stdio', url: 'http://b' }, ['type'], 'stdio needs a command'],
    [{ command: 'a', headers: {} }, ['headers'], 'headers is for servers with a url'],
    [{ url: 'http://b', env: {} }, ['env'], 'env is for servers with a command'],
  ])('%j is refused at %j', (settings, path, message) => {
    const issues = mcpServersSettingsSchema.safeParse({ x: settings }).error?.issues
    expect(issues).toMatchObject([{ path: ['x', ...path], message }])
  })

  it('refuses names that could not be part of the name of a tool, or would run into it', () => {
    for (const name of ['', 'a b', 'a.b', 'x'.repeat(41), 'ü', 'github__evil', '_a', 'a_']) {
      expect(mcpServersSettingsSchema.safeParse({ [name]: { command: 'a' } }).success).toBe(false)
    }
  })
})

describe('variables in settings', () => {
  const env = { KEY: 'k', EMPTY: '', HOST: 'example.org' }

  it('are replaced in command, arguments, environment, address and headers', () => {
    expect(targetOf({ command: '${HOST}/x', args: ['${KEY}-${KEY}', '$KEY'], env: { A: '${KEY}' } }, env)).toEqual({
      ok: true,
      target: { kind: 'stdio', command: ['example.org/x', 'k-k', '$KEY'], env: { A: 'k' }, cwd: null },
    })
    expect(targetOf({ url: 'https://${HOST}/mcp', headers: { authorization: 'Bearer ${KEY}' } }, env)).toEqual({
      ok: true,
      target: { kind: 'http', url: new URL('https://example.org/mcp'), headers: { authorization: 'Bearer k' } },
    })
  })

  it('have defaults, and what they hold is not read again', () => {
    const args = ['${NONE:-a b}', '${EMPTY:-b}', '${NONE:-}', '${EMPTY}', '${TRICK}']
    expect(targetOf({ command: 'x', args }, { ...env, TRICK: '${KEY}' })).toMatchObject({
      target: { command: ['x', 'a b', 'b', '', '', '${KEY}'] },
    })
  })

  it('that are missing are named, all of them', () => {
    expect(targetOf({ url: '${A}', headers: { b: '${B}' } }, env)).toEqual({
      ok: false,
      message: 'its settings need what the environment does not have: A, B',
    })
  })

  it('make no address out of what is none', () => {
    for (const url of ['${KEY}', 'file:///etc/passwd', 'ftp://a']) {
      expect(targetOf({ url }, env)).toEqual({ ok: false, message: 'its url is not an http or https address' })
    }
  })
})
