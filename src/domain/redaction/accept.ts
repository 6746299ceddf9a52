/** Words that stand where a secret could, and everywhere else too. */
const ORDINARY = new Set(
  (
    'administrator anonymous anthropic changeme default dummy-key dummykey fake-key fakekey lm-studio lmstudio llamacpp ' +
    'no-key no-key-required none-needed not-needed notneeded ollama openai sk-dummy sk-test test-key testkey unneeded ' +
    'default development disabled enabled example false guest internal localhost ' +
    'mysecret none nopassword notset optional password password1 placeholder postgres postgresql private production ' +
    'public required secret staging string testing testtest undefined unknown unused username yourpassword'
  ).split(' '),
)

const LEAST_CHARACTERS = 6
/** Shorter numbers are ports, sizes and years. */
const LEAST_DIGITS = 10

/** Why a value cannot be redacted: every text that has it in it by chance would be destroyed. null: it can be. */
export function whyIgnored(value: string, mask: string, isOwnWord: (value: string) => boolean): string | null {
  if (value.length < LEAST_CHARACTERS) return `it is shorter than ${LEAST_CHARACTERS} characters`
  if (ORDINARY.has(value.toLowerCase())) return 'it is an ordinary word'
  if (/^[\d.,:\s-]+$/.test(value) && value.replace(/\D/g, '').length < LEAST_DIGITS) return 'it is an ordinary number'
  if (new Set(value.replace(/\s/g, '')).size < 3) return 'it has fewer than three different characters'
  if (isOwnWord(value)) return 'it is a word that the log itself is made of'
  if (mask.includes(value)) return 'it is part of its own name'
  return null
}
