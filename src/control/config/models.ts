import { z } from 'zod'
import { nearest } from '../../domain/index.js'
import type { Config } from './schema.js'
import { checked } from './setting.js'
import type { NameFault } from './tools.js'
import type { Path } from './yaml-nodes.js'

const POOL_NAME = /^[a-z][a-z0-9_-]*$/
const MODEL_NAME = /^[^/\s]+\/\S+$/
const WANTED = 'must be provider/model, as in openai/gpt-5.2'

/** Whether a pool of that name is there can be said only when all files are read: see poolFault. */
export function modelSettingSchema() {
  return z.string().refine((name) => MODEL_NAME.test(name) || POOL_NAME.test(name), { error: `model ${WANTED}` })
}

export function poolsSettingsSchema() {
  const name = z
    .string()
    .regex(POOL_NAME, 'a pool name begins with a lower-case letter and has letters, digits, dashes and underscores')
  const member = checked((model) => {
    if (poolNamed(model) !== null) return `"${model}" is no model: a pool lists models, as provider/model, and no pools`
    return MODEL_NAME.test(model) ? null : `"${model}" ${WANTED}`
  })
  const members = z.array(member).superRefine((models, context) => {
    if (models.length === 0) context.addIssue({ code: 'custom', message: 'a pool needs at least one model' })
    for (const [i, model] of models.entries()) {
      if (models.indexOf(model) === i) continue
      context.addIssue({ code: 'custom', path: [i], message: `"${model}" is in this pool already` })
    }
  })
  return z.record(name, members)
}

/** What is wrong with `model` once it is known which pools there are, or null. */
export function poolFault(model: string, pools: readonly string[]): NameFault | null {
  const name = poolNamed(model)
  if (name === null || pools.includes(name)) return null
  if (pools.length === 0) return { message: `model ${WANTED}`, nearest: null }
  const near = nearest(name, pools)
  const hint = near === null ? '' : `: did you mean "${near}"?`
  return { message: `model ${WANTED}, or one of the pools ${pools.join(', ')}${hint}`, nearest: near }
}

/** The same of `pool`, which takes no model. */
export function poolNameFault(name: string, pools: readonly string[]): NameFault | null {
  if (pools.includes(name)) return null
  if (pools.length === 0) return { message: `there is no pool "${name}": list its models under pools`, nearest: null }
  const near = nearest(name, pools)
  const hint = near === null ? '' : `: did you mean "${near}"?`
  return { message: `pool must be one of the pools ${pools.join(', ')}${hint}`, nearest: near }
}

/** Every place where a file says which model agents use. Members of pools, which name no pools, are not among them. */
export function modelsNamed({ model, delegation, profiles }: Config): { path: Path; name: string; is_pool: boolean }[] {
  const at = (path: Path, name: string | undefined, is_pool = false) =>
    name === undefined ? [] : [{ path, name, is_pool }]
  return [
    ...at(['model'], model),
    ...(delegation?.models ?? []).flatMap((name, i) => at(['delegation', 'models', i], name)),
    ...Object.entries(profiles ?? {}).flatMap(([profile, { model, pool, models = [] }]) => [
      ...at(['profiles', profile, 'model'], model),
      ...at(['profiles', profile, 'pool'], pool, true),
      ...models.flatMap((name, i) => at(['profiles', profile, 'models', i], name)),
    ]),
  ]
}

/** `fast` and `pool/fast` are one. */
export function sameModel(a: string, b: string): boolean {
  return a === b || (poolNamed(a) !== null && poolNamed(a) === poolNamed(b))
}

/** Whether a model's answers were written beforehand, by whoever wrote the file. */
export function isScripted(model: string): boolean {
  return model.startsWith('scripted/')
}

/** The pool that `fast` or `pool/fast` stands for; null for a model. */
function poolNamed(model: string): string | null {
  if (model.startsWith('pool/')) return model.slice('pool/'.length)
  return POOL_NAME.test(model) ? model : null
}
