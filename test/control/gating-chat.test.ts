import { describe, expect, it, onTestFinished } from 'vitest'
import { chatCommands } from '../../src/cli/chat/commands/table.js'
import { sayMessage } from '../../src/cli/chat/message.js'
import type { Room } from '../../src/cli/chat/room.js'
import { createRetinue, PRINCIPAL_ROLES, type PrincipalRole, type Retinue } from '../../src/index.js'
import { chatRoom } from '../support/chat-room.js'
import { makeProject } from '../support/project.js'

const NAMES = { viewer: 'vera', operator: 'olga', admin: 'ada' } as const

const SCRIPT = `agents:
  root:
    - branches:
        - when: { contains: "Wait long" }
          steps: [{ delay_ms: 600000, text: "Late." }]
        - steps: [{ text: "An answer." }]
  "a*":
    - text: "Words of the sub-agent."
`

/** A chat of somebody with that role, in a session of theirs with one task, t1, whose process is gone. */
async function openChat(role: PrincipalRole) {
  const cwd = makeProject({ 's.yaml': SCRIPT })
  const principals = { vera: 'viewer', olga: 'operator', ada: 'admin' } as const
  const settings = { model: { name: 'scripted/s.yaml', source: 'user' as const }, principals }
  const retinue = await createRetinue({ cwd, env: {}, settings })
  onTestFinished(() => retinue.close())
  const begun = retinue.run({ task: 'Wait long' })
  for await (const { type } of begun) if (type === 'agent.started') break
  begun.leave('its process is gone')
  await begun.result().catch(() => {})
  const { session_id } = await retinue.sessions.create(NAMES[role])
  const session = await retinue.sessions.addTask(session_id, begun.run_id)

  let left = false
  const leave = () => {
    left = true
  }
  const room = chatRoom(retinue, { as: NAMES[role], session, leave })
  return { retinue, room, session_id, isLeft: () => left }
}

/** Everything that a command could have changed. */
async function stateOf(retinue: Retinue, { conversation }: Room) {
  const runs = (await retinue.runs()).map(({ run_id, status, outcome }) => ({ run_id, status, outcome }))
  const { session_id, model, mode } = conversation
  return { runs, sessions: await retinue.store.records('session'), session_id, model, mode }
}

async function resumed(retinue: Retinue, run_id: string): Promise<void> {
  for await (const { type } of retinue.follow(run_id)) if (type === 'agent.resumed') return
}

type Case = {
  line: string
  least: PrincipalRole
  /** It only looks: the log has no request. */
  looks: boolean
  /** The role depends on what is given, and a refusal names that too. */
  by_given?: boolean
  said: RegExp
}

const CASES: Case[] = [
  { line: '/spawn Answer', least: 'operator', looks: false, said: /^t2 works in the background/ },
  { line: '/spawn @executor Answer', least: 'operator', looks: false, said: /^t2 @executor works in the background/ },
  { line: '/tasks', least: 'viewer', looks: true, said: /^t1 +interrupted/ },
  { line: '/await', least: 'viewer', looks: true, said: /^Nothing works in the background/ },
  { line: '/stop t1', least: 'operator', looks: false, said: /^t1 is closed: cancelled$/ },
  { line: '/plan Answer', least: 'operator', looks: false, said: /^$/ },
  { line: '/model', least: 'viewer', looks: true, said: /^Model: / },
  { line: '/model scripted/s.yaml', least: 'operator', looks: false, by_given: true, said: /scripted\/s\.yaml$/ },
  { line: '/mode', least: 'viewer', looks: true, said: /^Mode: / },
  { line: '/mode plan', least: 'operator', looks: false, by_given: true, said: /plan mode$/ },
  { line: '/skills', least: 'viewer', looks: true, said: /^No skills here/ },
  { line: '/mcp', least: 'viewer', looks: true, said: /^No MCP servers here/ },
  { line: '/cost', least: 'viewer', looks: true, said: /tokens/ },
  { line: '/runs', least: 'viewer', looks: true, said: /Wait long/ },
  { line: '/show t1', least: 'viewer', looks: true, said: /Wait long/ },
  { line: '/resume t1', least: 'operator', looks: false, said: /^t1 goes on in the background/ },
  { line: '/clear', least: 'viewer', looks: false, said: /^A new session/ },
  { line: '/exit', least: 'viewer', looks: true, said: /^$/ },
]

const order = (role: PrincipalRole) => PRINCIPAL_ROLES.indexOf(role)
const NEVER = new AbortController().signal

describe.each(PRINCIPAL_ROLES)('in a chat, as %s', (role) => {
  it.each(CASES)('$line', async ({ line, least, looks, by_given = false, said }) => {
    const { retinue, room, session_id, isLeft } = await openChat(role)
    const before = await stateOf(retinue, room)
    const allowed = order(role) >= order(least)
    const { outcome, text } = await room.control.execute(line, { session_id }, chatCommands(room, NEVER))

    const [, command = '', given = ''] = /^\/(\S+) ?(.*)$/.exec(line) ?? []
    const what = by_given ? line : `/${command}`
    const denied = `Denied: ${what} needs the role ${least} or more, and ${NAMES[role]} is ${role}.`
    expect({ outcome, text }).toEqual(
      allowed
        ? { outcome: 'success', text: expect.stringMatching(new RegExp(said, 'm')) }
        : { outcome: 'denied', text: denied },
    )
    const asked = { command, arguments: given, principal: NAMES[role], role, session_id }
    const requested = allowed && !looks
    const log = await retinue.store.readControl()
    const request_id = log[0]?.data.request_id ?? null
    expect(request_id === null).toBe(!requested)
    const message = allowed ? expect.stringMatching(said) : denied
    expect(log.map(({ type, data }) => ({ type, data }))).toEqual([
      ...(requested ? [{ type: 'control.command_requested', data: { ...asked, request_id } }] : []),
      {
        type: 'control.command_executed',
        data: { ...asked, request_id, outcome: allowed ? 'success' : 'denied', message },
      },
    ])
    // It is gone on with in the background.
    if (allowed && command === 'resume') await resumed(retinue, room.conversation.tasks[0] as string)
    const after = await stateOf(retinue, room)
    if (requested) expect(after).not.toEqual(before)
    else expect(after).toEqual(before)
    expect(isLeft()).toBe(line === '/exit')
  })

  it('what is said is answered for whoever may make agents work', async () => {
    const { retinue, room } = await openChat(role)
    const before = await stateOf(retinue, room)
    for (const text of ['Answer', '@executor Answer']) {
      const answered = await sayMessage(room, text, NEVER).catch((error: Error) => error.message)
      expect(answered).toBe(
        role === 'viewer' ? 'vera is a viewer: making agents work needs the role operator' : 'answered',
      )
    }
    if (role === 'viewer') expect(await stateOf(retinue, room)).toEqual(before)
    else expect((await retinue.runs()).map(({ said }) => said)).toEqual(['@executor Answer', 'Answer', 'Wait long'])
  })
})

it('has a line for every command of the chat', async () => {
  const { room } = await openChat('admin')
  const names = chatCommands(room, NEVER).map(({ name }) => name)
  expect([...new Set(CASES.map(({ line }) => line.slice(1).split(' ', 1)[0]))]).toEqual(names)
})
