import type { Retinue } from '../index.js'

export type ServeOptions = {
  /** Default: 127.0.0.1. Another one needs users. */
  host: string
  /** 0: any that is free. */
  port: number
  /** Names and the SHA-256 digests (hex) of their tokens; what they may do is what `principals` says. None: one token. */
  users: Record<string, { token_sha256: string }>
  /** Origins by which it is reached besides its own address: those of a proxy in front of it. */
  origins: string[]
}

export type Serving = {
  /** With the token in its fragment, where there is one. */
  url: string
  /** The same without it. */
  address: string
  token: string | null
  /** Ends every connection and lets go of the runs that it works on; resolves with their ids. */
  close(reason: string): Promise<string[]>
}

/** Serves one Retinue over HTTP until it is closed. Refuses with a `RetinueError` what would not be safe. */
export async function serve(retinue: Retinue, options: ServeOptions): Promise<Serving> {
  throw new Error(`not written yet: ${retinue.cwd} ${options.port}`)
}
