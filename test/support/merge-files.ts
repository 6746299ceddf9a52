import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** A file as scenarios write it: a text, bytes that are none, where a link leads, or the text of a program. */
export type File = string | { base64: string } | { link: string } | { program: string }
export type Files = Record<string, File>

/** Every file below a folder, links included and not followed; `without` are names of folders that are left out. */
export function filesIn(folder: string, without: readonly string[] = []): Files {
  const files: Files = {}
  const walk = (below: string) => {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      if (without.includes(entry.name)) continue
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) walk(path)
      else files[path] = fileAt(join(folder, path), entry.isSymbolicLink())
    }
  }
  walk('')
  return files
}

export function putFiles(folder: string, files: Files): void {
  for (const [name, file] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    if (typeof file === 'string') writeFileSync(path, file)
    else if ('base64' in file) writeFileSync(path, Buffer.from(file.base64, 'base64'))
    else if ('link' in file) symlinkSync(file.link, path)
    else {
      writeFileSync(path, file.program)
      chmodSync(path, 0o755)
    }
  }
}

function fileAt(path: string, isLink: boolean): File {
  if (isLink) return { link: readlinkSync(path) }
  const bytes = readFileSync(path)
  const text = bytes.toString('utf8')
  if (!Buffer.from(text).equals(bytes) || text.includes('\0')) return { base64: bytes.toString('base64') }
  return statSync(path).mode & 0o100 ? { program: text } : text
}
