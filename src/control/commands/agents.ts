import { HANDLE_FAULT, leastToPin } from '../../domain/index.js'
import type { ControlDone } from '../done.js'
import { pinProfile, unpinProfile } from '../pins/edit.js'
import type { ControlPlace } from '../place.js'
import { LEAST } from '../principals/gate.js'
import { registerAgent, unregisterAgent } from '../registry/edit.js'
import { agentsText, agentText } from './agents-text.js'
import { type Command, type CommandAnswer, defineCommand, noArguments, type Parsed, wordsOf } from './command.js'
import { parsePin, parseScope, SCOPE_USAGE } from './scope.js'
import { showAgent, viewAgents } from './views.js'

/** The commands about agents, profiles and pins, for one who asks from one place. */
export function agentsCommands(place: ControlPlace): Command[] {
  return [
    defineCommand({
      name: 'agents',
      usage: '/agents',
      example: '/agents',
      summary: 'lists agents, profiles and pins',
      least: LEAST.agents,
      looks: true,
      parse: noArguments,
      run: async () => answered(await viewAgents(place), agentsText),
    }),
    defineCommand({
      name: 'agents show',
      usage: '/agents show <@handle|profile>',
      example: '/agents show @writer',
      summary: 'says all about an agent or a profile',
      least: LEAST['agents show'],
      looks: true,
      parse: (given) => oneWord(given, 'Name one handle or profile.'),
      run: async (name) => answered(await showAgent(place, name), agentText),
    }),
    defineCommand({
      name: 'agents register',
      usage: '/agents register <@handle> | <profileId> | <description> [| tag, tag]',
      example: '/agents register @writer | executor | Writes docs in plain words. | docs, writing',
      summary: 'adds an agent, or replaces the one of that handle',
      least: LEAST['agents register'],
      parse: parseEntry,
      run: async (entry) => answered(await registerAgent(place, entry, { keep: true })),
    }),
    defineCommand({
      name: 'agents unregister',
      usage: '/agents unregister <@handle>',
      example: '/agents unregister @writer',
      summary: 'removes an agent; its profile stays',
      least: LEAST['agents unregister'],
      parse: (given) => oneWord(given, `Name one handle: ${HANDLE_FAULT}.`),
      run: async (handle) => answered(await unregisterAgent(place, handle)),
    }),
    defineCommand({
      name: 'agents pin',
      usage: `/agents pin <@handle|profile> ${SCOPE_USAGE}`,
      example: '/agents pin @writer --user',
      summary: 'makes it the profile of what is asked from now on',
      least: ({ scope }) => leastToPin(scope),
      parse: parsePin,
      run: async ({ name, scope }) => answered(await pinProfile(place, name, scope)),
    }),
    defineCommand({
      name: 'agents unpin',
      usage: `/agents unpin ${SCOPE_USAGE}`,
      example: '/agents unpin --user',
      summary: 'removes that choice',
      least: (scope) => leastToPin(scope),
      parse: parseScope,
      run: async (scope) => answered(await unpinProfile(place, scope)),
    }),
  ]
}

function answered<T>(result: ControlDone<T>, text?: (value: T) => string): CommandAnswer {
  if (!result.ok) return result
  return { ok: true, text: text?.(result.value) ?? result.said, data: result.value, said: result.said }
}

function oneWord(given: string, message: string): Parsed<string> {
  const [word, ...more] = wordsOf(given)
  return word === undefined || more.length > 0 ? { ok: false, message } : { ok: true, args: word }
}

/** What is in the parts is checked where it is registered. */
function parseEntry(given: string): Parsed<Record<string, unknown>> {
  const parts = given.split('|').map((part) => part.trim())
  const [agentId, profileId, description, tags] = parts
  if (parts.length < 3 || parts.length > 4) {
    return { ok: false, message: `Give handle, profile and description with | between them, and tags if you like.` }
  }
  const list = tags
    ?.split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  return { ok: true, args: { agentId, profileId, description, ...(list && list.length > 0 ? { tags: list } : {}) } }
}
