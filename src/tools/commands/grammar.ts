import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Parser, Tree } from 'web-tree-sitter'

/** Where the build puts the two WebAssembly files, seen from what it builds. */
declare const RETINUE_WASM: string | undefined

/** Nobody who has not run a command pays for the parser: it is loaded at the first one. */
let loading: Promise<Parser> | null = null

/** A tree, or null where parsing took too long. */
export async function parseTree(text: string, max_ms: number): Promise<Tree | null> {
  loading ??= load()
  const parser = await loading
  const end = performance.now() + max_ms
  const tree = parser.parse(text, null, { progressCallback: () => performance.now() > end })
  // A parser that was stopped would go on where it was, with the next text.
  if (!tree) parser.reset()
  return tree
}

async function load(): Promise<Parser> {
  const { Language, Parser } = await import('web-tree-sitter')
  const runtime = wasm('web-tree-sitter', 'web-tree-sitter.wasm')
  await Parser.init({ locateFile: () => runtime })
  const parser = new Parser()
  parser.setLanguage(await Language.load(wasm('tree-sitter-bash', 'tree-sitter-bash.wasm')))
  return parser
}

function wasm(module: string, file: string): string {
  if (typeof RETINUE_WASM === 'string') return fileURLToPath(new URL(`${RETINUE_WASM}${file}`, import.meta.url))
  return createRequire(import.meta.url).resolve(`${module}/${file}`)
}
