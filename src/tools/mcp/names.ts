import { createHash } from 'node:crypto'

/** What models and providers take as the name of a tool. */
const LONGEST = 64

/** `message` is about the server, for a person. */
export type Named = { ok: true; name: string } | { ok: false; message: string }

/**
 * The name under which a server's tool is offered: `mcp__server__tool`. Names that do not fit, and names that would be
 * the same as another one's, end in a digest of the original, so that they depend on nothing but the originals.
 * Gives each name once: what would have one that is given already has none, and the reason.
 */
export function createNames(): (server: string, tools: readonly string[]) => Named[] {
  const taken = new Set<string>()
  return (server, tools) => {
    const plain = tools.map((tool) => plainName(server, tool))
    return tools.map((tool, i) => {
      if (tools.indexOf(tool) !== i) {
        return { ok: false, message: `it lists the tool ${tool} more than once; the first counts` }
      }
      const name = plain[i] as string
      const isExact = name === `mcp__${server}__${tool}`
      const isShared = plain.some((other, j) => j !== i && other === name && tools[j] !== tool)
      const chosen = !taken.has(name) && (isExact || !isShared) ? name : withDigest(name, `${server} ${tool}`)
      // A server can name a tool after the digest of another one.
      if (taken.has(chosen)) {
        return { ok: false, message: `the tool ${tool} is left out: there is another one called ${chosen}` }
      }
      taken.add(chosen)
      return { ok: true, name: chosen }
    })
  }
}

function plainName(server: string, tool: string): string {
  const name = `mcp__${server}__${tool.replace(/[^a-zA-Z0-9_-]/g, '_')}`
  return name.length > LONGEST ? withDigest(name, `${server} ${tool}`) : name
}

function withDigest(name: string, original: string): string {
  const digest = createHash('sha256').update(original).digest('hex').slice(0, 8)
  return `${name.slice(0, LONGEST - 9)}_${digest}`
}
