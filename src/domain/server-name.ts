const NAME = /^[a-zA-Z0-9_-]{1,40}$/

/**
 * What is wrong with the name of an MCP server, or null. Two underscores end it in the names of its tools, so with them
 * in it a server could pass for another one: `mcp__tracker__*` has to be the tools of `tracker` and of nobody else.
 */
export function serverNameFault(name: string): string | null {
  if (!NAME.test(name)) return 'a server name has 1 to 40 letters, digits, dashes and underscores'
  if (/^_|__|_$/.test(name)) return 'a server name does not begin or end with an underscore, nor has two in a row'
  return null
}
