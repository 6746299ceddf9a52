import { z } from 'zod'
import { PRINCIPAL_ID, PRINCIPAL_ID_FAULT } from '../../domain/index.js'
import { checked, setting } from './setting.js'

/** How `retinue serve` is reached, with nothing left open but the port: null is the usual one, or any that is free. */
export type ServerSettings = {
  host: string
  port: number | null
  users: Record<string, { token_sha256: string }>
  origins: string[]
}

export const SERVER_DEFAULTS: ServerSettings = { host: '127.0.0.1', port: null, users: {}, origins: [] }

/** A digest, not the token: whoever reads the file cannot come in with it. */
const userSchema = z.strictObject({
  token_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 digest of a token, 64 of 0-9 and a-f, not the token itself'),
})

export function serverSetting() {
  return setting(
    z.strictObject({
      host: setting(
        checked((host) => (HOST.test(host) ? null : 'no address to listen on: write one as in 127.0.0.1 or ::1')),
        'The address to listen on. One that others can reach needs `users`.',
        { default: SERVER_DEFAULTS.host, examples: ['127.0.0.1'] },
      ),
      port: setting(z.int().min(0).max(65_535), 'The port; 0 is any that is free.', {
        default_text: '4774, or any that is free where that is taken',
        examples: [4774],
      }),
      users: setting(
        z.record(z.string().regex(PRINCIPAL_ID, PRINCIPAL_ID_FAULT), userSchema),
        'Who may come in, by name, each with the digest of a token: `retinue serve --new-token <name>` makes both. What ' +
          'each may do is said under `principals`.',
        {
          default_text: 'nobody but you, with a new token each time',
          examples: [{ ada: { token_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' } }],
        },
      ),
      origins: setting(
        z.array(checked(originFault)),
        'Origins by which it is reached besides its own address: those of a proxy in front of it. With `https` the cookie ' +
          'goes over encrypted connections alone.',
        { default_text: 'none', examples: [['https://retinue.example.org']] },
      ),
    }),
    'How `retinue serve` is reached, and by whom.',
    { user_only: true },
  )
}

/** What one file says. */
export type ServerSetting = z.infer<ReturnType<typeof serverSetting>>

const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$|^[0-9A-Fa-f:.]+$/

function originFault(text: string): string | null {
  const isOrigin = URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text)
  return isOrigin ? null : `"${text}" is no origin: write it as in https://retinue.example.org, without a path`
}
