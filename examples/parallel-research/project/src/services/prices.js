export function price(list, item) {
  try {
    return list[item].price
  } catch {
    return 0
  }
}
