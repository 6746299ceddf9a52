import type { Choices } from '../../index.js'
import type { Room } from './room.js'

type Here = Pick<Room, 'retinue' | 'as'> & { conversation?: Pick<Room['conversation'], 'session_id'> }

/** Whom a message can be for, and what is pinned for the next one. */
export function choicesOf({ retinue, as, conversation }: Here): Promise<Choices> {
  const session_id = conversation?.session_id ?? null
  return retinue.choices({ ...(session_id === null ? {} : { session_id }), ...(as === null ? {} : { principal: as }) })
}

/** Agents by their handles, and every profile as if its name were one; a handle goes before a profile of that name. */
export function addressable({ agents }: Choices): { name: string; note: string; profile: string }[] {
  const isHandle = ({ name }: { name: string }) => name.startsWith('@')
  const handles = agents.filter(isHandle).map(({ name, description }) => ({ name, note: description, profile: name }))
  const taken = handles.map(({ name }) => name)
  const profiles = agents
    .filter((agent) => !isHandle(agent) && !taken.includes(`@${agent.name}`))
    .map(({ name, description }) => ({ name: `@${name}`, note: description, profile: name }))
  return [...handles, ...profiles]
}
