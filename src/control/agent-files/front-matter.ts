import { readYaml, type YamlFile } from '../config/yaml.js'

/** The two halves of an agent file, or what is missing. */
type Split = { ok: true; header: string; body: string } | { ok: false; line: number; message: string }

/** How many lines of a file stand before its YAML. */
export const LINES_ABOVE = 1

export function splitFile(text: string): Split {
  const source = text.replace(/^\uFEFF/, '')
  const begin = /^---[ \t]*\r?\n/.exec(source)
  if (!begin) {
    return {
      ok: false,
      line: 1,
      message: 'it does not begin with YAML between two lines of ---: add its description there',
    }
  }
  const rest = source.slice(begin[0].length)
  const end = /(?:^|\n)---[ \t]*(?:\r?\n|$)/.exec(rest)
  if (!end) return { ok: false, line: 1, message: 'its YAML has no end: add a line of --- below it' }
  return { ok: true, header: rest.slice(0, end.index), body: rest.slice(end.index + end[0].length) }
}

type Header = { yaml: YamlFile; note: string | null }

/**
 * Reads the YAML. Others are lenient about descriptions, so that there are many files with a colon in one, which YAML
 * takes for a key: such a line is read as the text it is meant to be.
 */
export async function readHeader(file: string, header: string): Promise<Header> {
  const yaml = await readYaml(file, header)
  if (!yaml.broken) return { yaml, note: null }
  const mended = header.replace(/^(description[ \t]*:[ \t]+)([^\s"'|>[{&*!%@`#][^\r\n]*)/m, (_, key, text: string) => {
    return `${key}${JSON.stringify(text.trimEnd())}`
  })
  if (mended === header) return { yaml, note: null }
  const again = await readYaml(file, mended)
  if (again.broken) return { yaml, note: null }
  return {
    yaml: again,
    note: 'it is no valid YAML, because of a colon or a # in it, and is read as it stands; put it in quotes',
  }
}

/** What stands after `name:` in a header that cannot be read as YAML. */
export function roughName(header: string): string | null {
  return /^name[ \t]*:[ \t]*["']?([^"'\r\n]+?)["']?[ \t]*\r?$/m.exec(header)?.[1] ?? null
}
