/** Tokens that one request may have, by the start of the model's name. Only what is sure; the first match counts. */
const WINDOWS: [prefix: string, tokens: number][] = [
  ['gpt-5-chat', 128_000],
  ['gpt-5', 400_000],
  ['gpt-4.1', 1_047_576],
  ['gpt-4o', 128_000],
  ['gpt-4-turbo', 128_000],
  ['gpt-3.5-turbo', 16_385],
  ['o1', 200_000],
  ['o3', 200_000],
  ['o4-mini', 200_000],
  ['claude-', 200_000],
  ['gemini-2', 1_048_576],
  ['gemini-3', 1_048_576],
]

/** Null when nobody knows. Servers that only speak like a provider set their own, so this is for the providers'. */
export function windowOf(model: string): number | null {
  return WINDOWS.find(([prefix]) => model.startsWith(prefix))?.[1] ?? null
}
