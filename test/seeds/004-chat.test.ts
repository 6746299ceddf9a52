import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lines, retinue } from '../support/cli.js'
import { makeProject } from '../support/project.js'
import { testWorker } from '../support/retinues.js'

const SCRIPT = `agents:
  root: [{ text: "It is blue." }, { text: "As it said." }]
  "a*": [{ delay_ms: 200, text: "I have looked: it is fine." }]
`

it('E7: /spawn in the chat works in the background, is seen, waited for and counted; roles are called by name', async () => {
  const cwd = makeProject({ 's.yaml': SCRIPT, '.config/retinue/config.yaml': 'model: scripted/s.yaml\n' })
  const at = { cwd, env: { XDG_CONFIG_HOME: join(cwd, '.config') } }
  await testWorker(cwd, at)
  const said = [
    '/spawn @researcher Look at it',
    'What colour is it?',
    '/tasks',
    '/await t1',
    '@reviewer Review it',
    'And what did the reviewer say?',
    '/cost',
  ]
  const { code, stdout } = await retinue(['chat'], { ...at, input: `${said.join('\n')}\n` })
  expect(code).toBe(0)
  // That it is done is said whenever that is.
  const shown = stdout.split('\n').filter((line) => !line.startsWith('✓ t1 '))
  expect(shown[0]).toMatch(/^t1 @researcher works in the background \(run \w+\)\./)
  expect(shown[1]).toBe('It is blue.')
  expect(shown[2]).toMatch(/^t1 {3}(?:running|completed)/)
  expect(shown.join('\n')).toContain(
    't1 completed\nI have looked: it is fine.\nI have looked: it is fine.\nAs it said.\n',
  )
  expect(stdout).toMatch(/all +[\d,]+ tokens/)

  const runs = lines((await retinue(['runs', '--json'], at)).stdout) as { run_id: string; task: string }[]
  const contracts = await Promise.all(
    runs.map(async ({ run_id }) => {
      const events = lines((await retinue(['show', run_id, '--json'], at)).stdout) as Record<string, never>[]
      const created = events.find(({ type }) => type === 'agent.subagent_created') as never
      return created ? (created as { data: { contract: { agent: { profile_id: string } } } }).data.contract.agent : null
    }),
  )
  const worked = contracts.flatMap((agent) => agent?.profile_id ?? [])
  expect([runs.length, ...worked.sort()]).toEqual([4, 'researcher', 'reviewer'])
  const log = lines((await retinue(['audit', '--json'], at)).stdout) as {
    type: string
    data: { command: string; outcome: string }
  }[]
  const requests = log.filter(({ type }) => type === 'control.command_requested')
  expect(requests.map(({ data }) => data.command)).toEqual(['spawn'])
  const results = log.filter(({ type }) => type === 'control.command_executed')
  expect(results.map(({ data }) => [data.command, data.outcome])).toEqual(
    ['spawn', 'tasks', 'await', 'cost'].map((command) => [command, 'success']),
  )
})
