/** Runs an example of the docs with what it takes for granted, and gives what it printed. */
export async function playPage(example: string, given: Record<string, unknown>): Promise<unknown[][]> {
  const printed: unknown[][] = []
  const all = { ...given, console: { log: (...said: unknown[]) => void printed.push(said) } }
  await new Function(...Object.keys(all), `return (async () => {${example}})()`)(...Object.values(all))
  return printed
}
