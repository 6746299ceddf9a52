import { MODES, type Mode, nearest, RetinueError } from '../../../index.js'
import type { Room } from '../room.js'

/** `/model [name]` */
export async function model({ retinue, conversation }: Room, name?: string) {
  if (name === undefined) {
    const ready = retinue.models.available().filter((provider) => provider.ready)
    const there = ready.length > 0 ? `Ready: ${ready.map(({ provider }) => provider).join(', ')}.` : ''
    const now = conversation.model ?? 'as configured'
    return { text: `Model: ${now}. ${there}`.trim(), data: { model: conversation.model } }
  }
  const resolved = await retinue.models.resolve(name)
  if (!resolved.ok) throw new RetinueError(resolved.code === 'no_key' ? 'auth' : 'model', resolved.message)
  await conversation.choose({ model: name })
  return { text: `From now on in this session: ${resolved.model.name}`, data: { model: name } }
}

/** `/mode [mode]` */
export async function mode({ conversation }: Room, name?: string) {
  if (name === undefined) {
    const now = conversation.mode ?? 'as configured'
    return { text: `Mode: ${now}. There are ${MODES.join(', ')}.`, data: { mode: conversation.mode } }
  }
  if (!isMode(name)) {
    const near = nearest(name, MODES)
    throw new RetinueError(
      'input',
      `There is no mode "${name}"${near === null ? '' : ` (did you mean ${near}?)`}. There are ${MODES.join(', ')}.`,
    )
  }
  await conversation.choose({ mode: name })
  return { text: `From now on in this session: ${name} mode`, data: { mode: name } }
}

function isMode(name: string): name is Mode {
  return (MODES as readonly string[]).includes(name)
}
