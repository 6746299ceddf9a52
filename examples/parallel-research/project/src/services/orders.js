import { OutOfStock, UnknownItem } from '../errors.js'
import { log } from '../log.js'

export function order(stock, item) {
  try {
    if (!(item in stock)) throw new UnknownItem(item)
    if (stock[item] === 0) throw new OutOfStock(item)
    stock[item] -= 1
    return { ok: true }
  } catch (error) {
    log('error', error.message)
    return { ok: false, reason: error.message }
  }
}
