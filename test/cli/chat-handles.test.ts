import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chatCommands } from '../../src/cli/chat/commands/table.js'
import { greeting } from '../../src/cli/chat/greeting.js'
import { sayMessage } from '../../src/cli/chat/message.js'
import { family, retinueIn } from '../seeds/family.js'
import { dataOf } from '../support/bench.js'
import { chatRoom } from '../support/chat-room.js'
import { retinue } from '../support/cli.js'
import { makeProject } from '../support/project.js'
import { CTRL_C, openTerminal } from '../support/terminal.js'

const NEVER = new AbortController().signal
const profiles = { lead: { can_spawn_children: true } }
const WRITE = { calls: [{ write_file: { path: 'note.txt', content: 'x' } }] }

it.each([
  { asked: {}, may: true },
  { asked: { delegation: { enabled: false } }, may: false },
  { asked: { delegation: { max_depth: 1 } }, may: false },
])('an agent that is called by its name has sub-agents as $asked says: $may', async ({ asked, may }) => {
  const agents = { 'a*': [{ text: 'Done.' }] }
  const { retinue } = await family(agents, { settings: { delegation: { profiles } } })
  const room = chatRoom(retinue, { asked })
  expect(await sayMessage(room, '@lead Have it done', NEVER)).toBe('answered')
  const spawned = await room.control.execute('/spawn @lead Have it done', {}, chatCommands(room, NEVER))
  expect(spawned.outcome).toBe('success')
  await room.tasks.settled()
  for (const { run_id } of await retinue.runs()) {
    const [created] = dataOf(await retinue.events(run_id), 'agent.subagent_created')
    expect(created?.contract.permissions.can_spawn_children).toBe(may)
  }
})

it.each([
  ['the settings', { mode: 'plan' as const }, null],
  ['/mode', { mode: 'dangerous' as const }, 'plan' as const],
])('an agent that is called by its name writes nothing in plan mode of %s', async (_, settings, mode) => {
  const agents = { 'a*': [WRITE, { text: 'Tried.' }] }
  const { retinue, cwd } = await family(agents, { settings })
  const room = chatRoom(retinue)
  if (mode) await room.conversation.choose({ mode })
  expect(await sayMessage(room, '@executor Write a note', NEVER)).toBe('answered')
  await room.control.execute('/spawn @executor Write a note', {}, chatCommands(room, NEVER))
  await room.tasks.settled()
  const runs = await retinue.runs()
  expect(runs).toMatchObject([{ outcome: 'completed' }, { outcome: 'completed' }])
  expect(existsSync(join(cwd, 'note.txt'))).toBe(false)
})

it('who comes back sees what was said to an agent, and its words', async () => {
  const { retinue, model, cwd } = await family({ 'a*': [{ text: 'Words of the agent.' }] })
  const room = chatRoom(retinue)
  await sayMessage(room, '@executor Document it', NEVER)
  const again = await retinueIn(cwd, model)
  const session = await again.sessions.find(room.conversation.session_id as string)
  const shown = (await greeting(chatRoom(again, { session }), true)).split('\n')
  expect(shown.slice(-2)).toEqual([expect.stringMatching(/: @executor Document it$/), 'Words of the agent.'])
})

it('who comes back gets what was said to an agent with the arrow key', async () => {
  const script = 'agents:\n  root:\n    - text: Yes.\n  "a*":\n    - text: Words of the agent.\n'
  const cwd = makeProject({ 's.yaml': script })
  const at = { cwd, input: '@executor Document it\n/spawn @executor Not this\n' }
  expect((await retinue(['chat', '--model', 'scripted/s.yaml'], at)).stdout).toContain('Words of the agent.')
  const terminal = openTerminal(['chat'], cwd, { env: { NO_COLOR: '1' }, cols: 100, rows: 30 })
  await terminal.shows('/help shows the commands')
  terminal.type('\u001b[A')
  await terminal.shows('> @executor Document it')
  terminal.type(`${CTRL_C}${CTRL_C}`)
  terminal.type('\u0004')
  await terminal.ended
})

it('what cannot begin is said once, as what became of /spawn', async () => {
  const { retinue } = await family({ 'a*': [{ text: 'Done.' }] }, { settings: { delegation: { enabled: false } } })
  const room = chatRoom(retinue)
  const said: string[] = []
  room.face.say = (text) => said.push(text)
  const { outcome, text } = await room.control.execute('/spawn @executor Do it', {}, chatCommands(room, NEVER))
  await room.tasks.settled()
  expect([outcome, text]).toEqual(['failure', expect.stringContaining('delegation.enabled')])
  expect(said).toEqual([])
})
