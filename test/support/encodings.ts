/** What a secret can look like when it has been through somebody's hands. Each is what a program really writes. */
export const ENCODINGS: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64 without padding': (text) => Buffer.from(text).toString('base64').replace(/=+$/, ''),
  'base64 after one byte': (text) => Buffer.from(`x${text}yz`).toString('base64'),
  'base64 after two bytes': (text) => Buffer.from(`xy${text}z`).toString('base64'),
  'base64, url-safe': (text) => Buffer.from(text).toString('base64url'),
  'base64, url-safe, after one byte': (text) => Buffer.from(`?${text}>>`).toString('base64url'),
  'base64 at 64 columns': (text) => wrapped(Buffer.from(`${'-'.repeat(40)}${text}${'-'.repeat(40)}`), 64),
  'base64 at 76 columns': (text) => wrapped(Buffer.from(`${'-'.repeat(55)}${text}${'-'.repeat(40)}`), 76),
  'base64 of base64': (text) => Buffer.from(Buffer.from(text).toString('base64')).toString('base64'),
  'base64 of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('base64'),
  'base64 of JSON': (text) => Buffer.from(JSON.stringify({ key: text })).toString('base64'),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in upper case': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'hex with spaces': (text) => pairs(text).join(' '),
  'hex with colons': (text) => pairs(text).join(':').toUpperCase(),
  'hex with \\x': (text) => pairs(text).map((pair) => `\\x${pair}`).join(''), // biome-ignore format: one line each
  'hex with 0x': (text) => pairs(text).map((pair) => `0x${pair}`).join(', '), // biome-ignore format: one line each
  'hex at 60 columns': (text) =>
    (
      pairs(`before ${text}`)
        .join('')
        .match(/.{1,60}/g) ?? []
    ).join('\n'),
  percent: (text) => encodeURIComponent(text),
  'percent in lower case': (text) => encodeURIComponent(text).replace(/%../g, (byte) => byte.toLowerCase()),
  'percent, every byte': (text) => pairs(text).map((pair) => `%${pair}`).join(''), // biome-ignore format: one line each
  'percent, every third byte': (text) => percentSome(text),
  'percent twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  'JSON with slashes escaped': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify({ text })),
  'JSON in JSON in JSON': (text) => JSON.stringify(JSON.stringify(JSON.stringify([text]))),
  'unicode escapes': (text) => units(text, (code) => `\\u${code.toString(16).padStart(4, '0')}`),
  'unicode escapes for some': (text) => units(text, (code, i) => (i % 3 === 1 ? `\\u${code.toString(16).padStart(4, '0').toUpperCase()}` : JSON.stringify(String.fromCharCode(code)).slice(1, -1))), // biome-ignore format: one line each
  'HTML entities': (text) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? ''),
  'HTML entities, decimal': (text) => [...text].map((character) => `&#${character.codePointAt(0)};`).join(''),
  'HTML entities, hexadecimal': (text) => [...text].map((character) => `&#x${character.codePointAt(0)?.toString(16)};`).join(''), // biome-ignore format: one line each
  'in single quotes for a shell': (text) => `'${text.replaceAll("'", "'\\''")}'`,
  'with backslashes for a shell': (text) => text.replace(/[^A-Za-z0-9_./:=@%+,\n\u0080-\uffff-]/g, '\\$&'),
  reversed: (text) => [...text].reverse().join(''),
  rot13: (text) => text.replace(/[a-z]/gi, (letter) => rotate(letter)),
  'UTF-16': (text) =>
    Buffer.from(text, 'utf16le')
      .toString('latin1')
      .replace(/[^\0\x20-\x7e\n]/g, '?'),
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

function wrapped(bytes: Buffer, columns: number): string {
  return (bytes.toString('base64').match(new RegExp(`.{1,${columns}}`, 'g')) ?? []).join('\n')
}

function pairs(text: string): string[] {
  return Buffer.from(text).toString('hex').match(/../g) ?? []
}

function percentSome(text: string): string {
  return [...Buffer.from(text)]
    .map((byte, i) => {
      const plain = byte > 32 && byte < 127 && byte !== 37 && i % 3 !== 0
      return plain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`
    })
    .join('')
}

function units(text: string, write: (code: number, i: number) => string): string {
  return Array.from({ length: text.length }, (_, i) => write(text.charCodeAt(i), i)).join('')
}

function rotate(letter: string): string {
  const first = letter <= 'Z' ? 65 : 97
  return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first)
}
