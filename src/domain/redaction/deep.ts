/** Maps every string in JSON-like data, keys too. Gives back the very value where no string was changed. */
export function deepMap<T>(value: T, map: (text: string) => string): T {
  return mapped(value, map) as T
}

function mapped(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return mappedArray(value, map)
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null ? mappedObject(value, map) : value
}

function mappedArray(value: readonly unknown[], map: (text: string) => string): readonly unknown[] {
  let copy: unknown[] | null = null
  for (let i = 0; i < value.length; i++) {
    const item = mapped(value[i], map)
    if (item !== value[i]) copy ??= value.slice(0, i)
    copy?.push(item)
  }
  return copy ?? value
}

function mappedObject(value: object, map: (text: string) => string): object {
  let changed = false
  const entries: [string, unknown][] = []
  for (const [key, item] of Object.entries(value)) {
    const entry: [string, unknown] = [map(key), mapped(item, map)]
    changed ||= entry[0] !== key || entry[1] !== item
    entries.push(entry)
  }
  return changed ? Object.fromEntries(entries) : value
}
