/** The part of a server's settings that a person trusts, as it is written, before any variable is replaced. */
export type ServerSettings = {
  command?: string | undefined
  args?: readonly string[] | undefined
  env?: Readonly<Record<string, string>> | undefined
  cwd?: string | undefined
  url?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

/** A server as one file names it. */
export type NamedServer<S> = { name: string; settings: S; from: 'user' | 'project'; file: string }

export type ListedServer<S> = NamedServer<S> & {
  /** The user's own are; a project's are when a person said yes to exactly this. */
  trusted: boolean
}
