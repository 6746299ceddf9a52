import { order } from './services/orders.js'
import { bake } from './services/oven.js'

export async function serve({ stock, oven }, item) {
  const taken = order(stock, item)
  if (!taken.ok) return taken.reason
  try {
    return await bake(oven, item)
  } catch (error) {
    console.log(error)
    return 'Sorry.'
  }
}
