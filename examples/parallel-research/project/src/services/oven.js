import { BakeryError } from '../errors.js'

export async function bake(oven, item) {
  try {
    return await oven.bake(item)
  } catch (cause) {
    throw new BakeryError('oven', `The oven did not bake ${item}`, { cause })
  }
}
