import { describe, expect, it } from 'vitest'
import { workbench } from './workbench.js'

describe('run_command', () => {
  it('gives the exit code first, then the output, and is ok at zero', async () => {
    const { call, progress } = await workbench({ 'src/a': '' })
    expect(await call('run_command', { command: 'echo out; echo err >&2' })).toEqual({
      ok: true,
      content: 'exit code 0\nout\nerr',
    })
    expect(progress.join('')).toBe('out\nerr\n')
    expect(await call('run_command', { command: 'ls; exit 3', cwd: 'src' })).toEqual({
      ok: false,
      content: 'exit code 3\na',
    })
    expect(await call('run_command', { command: 'true' })).toEqual({ ok: true, content: 'exit code 0, no output' })
    expect(await call('run_command', { command: 'kill -9 $$' })).toEqual({
      ok: false,
      content: 'ended by signal SIGKILL, no output',
    })
  })

  it('plans the command and the folder, in one line', async () => {
    const { plan } = await workbench({ 'src/a': '' })
    expect(await plan('run_command', { command: 'make\n  all', cwd: './src' })).toEqual({
      ok: true,
      plan: {
        summary: 'run make all in src',
        paths: [{ path: 'src', access: 'read' }],
        command: 'make\n  all',
        detail: 'make\n  all',
      },
    })
    expect(await plan('run_command', { command: 'ls', cwd: '' })).toEqual({
      ok: true,
      plan: { summary: 'run ls', paths: [], command: 'ls', detail: 'ls' },
    })
  })

  it('is refused in a folder that is none, or outside', async () => {
    const { call } = await workbench({ a: '' })
    for (const cwd of ['a', 'nope', '..']) {
      expect(await call('run_command', { command: 'ls', cwd })).toEqual({ refused: expect.stringMatching(/^cwd: /) })
    }
  })

  it('ends a command at the smallest of what was asked, what is allowed and what is left', async () => {
    const limits = { command_timeout_ms: 300, command_max_timeout_ms: 400 }
    const usual = await workbench({}, { limits })
    const timedOut = (time: string) => ({
      ok: false,
      content: `timed out after ${time} and was ended (timeout_ms can be up to 400)\nstart`,
    })
    const command = 'echo start; sleep 20'
    expect(await usual.call('run_command', { command })).toEqual(timedOut('0.3 s'))
    expect(await usual.call('run_command', { command, timeout_ms: 5000 })).toEqual(timedOut('0.4 s'))
    const short = await workbench({}, { limits, time_left_ms: 200 })
    expect(await short.call('run_command', { command, timeout_ms: 5000 })).toEqual(timedOut('0.2 s'))
  })

  it('stops when the call is cancelled', async () => {
    const { call, abort, progress } = await workbench()
    const stopped = call('run_command', { command: 'echo start; sleep 20' })
    await expect.poll(() => progress.join(''), { timeout: 60_000 }).toContain('start')
    abort.abort()
    expect(await stopped).toEqual({
      ok: false,
      content: 'stopped: the call was cancelled or its time was up\nstart',
    })
  })
})
