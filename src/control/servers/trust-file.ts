import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import type { ServerSettings } from './server.js'

/** The file in the person's own folder that says which servers of which projects may start. */
export function trustFile(config_home: string): string {
  return join(config_home, 'retinue', 'trusted-servers.json')
}

/** Folder and name are only for people who look into the file; the digest decides. */
const fileSchema = z.strictObject({
  version: z.literal(1),
  servers: z.array(z.strictObject({ folder: z.string(), name: z.string(), digest: z.string() })),
})
export type Trusted = z.infer<typeof fileSchema>['servers'][number]

export type TrustRead = { ok: true; trusted: Trusted[] } | { ok: false; message: string }

/** A file that cannot be understood trusts nobody. */
export async function readTrust(
  config_home: string,
  read: (path: string) => Promise<string | null>,
): Promise<TrustRead> {
  const file = trustFile(config_home)
  const damaged = (reason: string): TrustRead => ({
    ok: false,
    message: `${file} ${reason}, so no server of a project is trusted: correct it, or remove it and trust them again`,
  })
  try {
    const text = await read(file)
    if (text === null) return { ok: true, trusted: [] }
    const parsed = fileSchema.safeParse(JSON.parse(text))
    return parsed.success ? { ok: true, trusted: parsed.data.servers } : damaged('is damaged')
  } catch (error) {
    return damaged(error instanceof SyntaxError ? 'is damaged' : `cannot be read (${(error as Error).message})`)
  }
}

export function formatTrust(trusted: readonly Trusted[]): string {
  return `${JSON.stringify({ version: 1, servers: trusted }, null, 2)}\n`
}

/** Names what a person said yes to: this command, or this address, in this folder. Anything else has another one. */
export function trustDigest(folder: string, name: string, settings: ServerSettings): string {
  const { command = null, args = [], cwd = null, url = null } = settings
  const said = [folder, name, command, args, cwd, sorted(settings.env), url, sorted(settings.headers)]
  return createHash('sha256').update(JSON.stringify(said)).digest('hex')
}

function sorted(values: Readonly<Record<string, string>> = {}): [string, string][] {
  return Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))
}
