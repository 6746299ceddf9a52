import { MODES, type Mode, narrowerMode, nearest, RetinueError } from '../../../index.js'
import { choicesOf } from '../choices.js'
import type { Room } from '../room.js'

/** `/model [name]` */
export async function model(room: Room, name?: string) {
  const { retinue, conversation } = room
  if (name === undefined) {
    const ready = retinue.models.available().filter((provider) => provider.ready)
    const there = ready.length > 0 ? `Ready: ${ready.map(({ provider }) => provider).join(', ')}.` : ''
    const now = conversation.model ?? (await choicesOf(room)).defaults.model
    return { text: `Model: ${now ?? 'none is configured'}. ${there}`.trim(), data: { model: now } }
  }
  const resolved = await retinue.models.resolve(name)
  if (!resolved.ok) throw new RetinueError(resolved.code === 'no_key' ? 'auth' : 'model', resolved.message)
  await conversation.choose({ model: name })
  return { text: `From now on in this session: ${resolved.model.name}`, data: { model: name } }
}

/** `/mode [mode]` */
export async function mode(room: Room, name?: string) {
  const { conversation } = room
  if (name === undefined) {
    const now = conversation.mode ?? (await choicesOf(room)).defaults.mode
    return { text: `Mode: ${now}. There are ${MODES.join(', ')}.`, data: { mode: now } }
  }
  if (!isMode(name)) {
    const near = nearest(name, MODES)
    throw new RetinueError(
      'input',
      `There is no mode "${name}"${near === null ? '' : ` (did you mean ${near}?)`}. There are ${MODES.join(', ')}.`,
    )
  }
  await conversation.choose({ mode: name })
  const { mode: configured } = (await choicesOf(room)).defaults
  const wider = narrowerMode(name, configured) !== name
  const until = wider ? `, until you leave: ${configured} mode is what is configured` : ''
  return { text: `From now on in this session: ${name} mode${until}`, data: { mode: name } }
}

function isMode(name: string): name is Mode {
  return (MODES as readonly string[]).includes(name)
}
