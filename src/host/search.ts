import { closeSync } from 'node:fs'
import { isProtected } from '../domain/index.js'
import { requireRegular } from './content.js'
import { compileGlob, type Glob } from './globs.js'
import type { Held } from './held.js'
import type { FileResult, SearchQuery, Workspace } from './host.js'
import type { Place } from './locate.js'
import { fault, refuse, relativeTo } from './paths.js'
import { ignoreFileArgs, runRipgrep } from './ripgrep.js'
import { SearchResults } from './search-results.js'

/** Works at the place a path leads to; the workspace's own way of doing so. */
export type At = <T>(given: string, work: (place: Place) => Promise<T>) => Promise<FileResult<T & { path: string }>>

export function createSearch(root: string, at: At): Pick<Workspace, 'find' | 'search'> {
  let known: string[] | null = null
  const ignoreArgs = () => {
    known ??= ignoreFileArgs(root)
    return known
  }

  async function searchIn(start: Held, query: SearchQuery, glob: Glob | null, results: SearchResults) {
    const run = { separator: '\n', onRecord: results.onRecord, signal: query.signal } as const
    if (start.stats.isDirectory()) {
      const args = [...queryArgs(query), ...ignoreArgs(), ...(glob?.args ?? []), '--', './']
      return runRipgrep({ ...run, args, cwd: start.at('.') })
    }
    // A file goes in as its input: by name, it might be another one by now.
    requireRegular(start.stats, query.under ?? '.')
    const fd = start.open()
    try {
      return await runRipgrep({ ...run, args: [...queryArgs(query), '--', '-'], cwd: root, stdin: fd })
    } finally {
      closeSync(fd)
    }
  }

  return {
    async find(pattern, { under = '.', limit, signal }) {
      const paths: string[] = []
      let more = false
      const found = await at(under, async (place) => {
        const folder = startOf(place, under, root)
        if (!folder.stats.isDirectory()) throw refuse('not_a_directory', `${JSON.stringify(under)} is not a folder`)
        const glob = await compileGlob(pattern)
        const prefix = prefixOf(root, folder)
        const end = await runRipgrep({
          args: ['--files', '--null', '--no-messages', ...ignoreArgs(), ...glob.args],
          cwd: folder.at('.'),
          separator: '\0',
          signal,
          onRecord: ({ bytes }) => {
            const path = bytes.toString('utf8')
            if (!glob.matches(path)) return true
            more = paths.length === limit
            if (!more) paths.push(prefix + path)
            return !more
          },
        })
        if (end.stopped && !more) throw refuse('io', 'the search was stopped before it was done')
        return {}
      })
      return found.ok ? { ok: true, paths, more } : found
    },

    async search(query) {
      if (query.pattern.includes('\0')) return fault('bad_pattern', 'a pattern must not contain a NUL byte')
      const under = query.under ?? '.'
      const found = await at(under, async (place) => {
        const start = startOf(place, under, root)
        const glob = query.glob === undefined ? null : await compileGlob(query.glob)
        const results = new SearchResults(query.limit, query.context ?? 0, pathsOf(root, start, glob))
        const end = await searchIn(start, query, glob, results)
        if (end.stopped && !results.more) throw refuse('io', 'the search was stopped before it was done')
        const { matches, more, finished } = results
        return { matches, more, wrong: finished || more ? null : end.stderr.trim() }
      })
      if (!found.ok) return found
      if (found.wrong !== null) return fault('bad_pattern', found.wrong)
      return { ok: true, matches: found.matches, more: found.more }
    },
  }
}

function startOf({ path, held }: Place, given: string, root: string): Held {
  if (!held) throw refuse('not_found', `${JSON.stringify(given)} does not exist`)
  if (isProtected(relativeTo(root, path))) {
    throw refuse('outside_workspace', `${JSON.stringify(given)} belongs to git or Retinue and is not searched`)
  }
  return held
}

function prefixOf(root: string, folder: Held): string {
  const path = relativeTo(root, folder.path)
  return path === '.' ? '' : `${path}/`
}

/** How to show a path that ripgrep names, and whether it is wanted at all. */
function pathsOf(root: string, start: Held, glob: Glob | null): (path: string) => string | null {
  if (!start.stats.isDirectory()) return () => relativeTo(root, start.path)
  const prefix = prefixOf(root, start)
  return (named) => {
    const path = named.replace(/^\.\//, '')
    return glob && !glob.matches(path) ? null : prefix + path
  }
}

function queryArgs({ pattern, literal, ignore_case, context, limit }: SearchQuery): string[] {
  return [
    '--json',
    ignore_case ? '--ignore-case' : '--case-sensitive',
    ...(literal ? ['--fixed-strings'] : []),
    ...(context ? [`--context=${context}`] : []),
    // One more than is shown tells whether there are more.
    `--max-count=${limit + 1}`,
    `--regexp=${pattern}`,
  ]
}
