import { z } from 'zod'
import { checked, setting, variableName } from './setting.js'

/** Where the key of a search service is looked for when nobody says. */
const KEY_VARIABLES = { brave: 'BRAVE_API_KEY', tavily: 'TAVILY_API_KEY' } as const

const searchSettingsSchema = z
  .strictObject({
    type: z.enum(['searxng', 'brave', 'tavily']),
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
    api_key_env: variableName('not a key').optional(),
  })
  .superRefine(({ type, url, api_key_env }, context) => {
    if (type !== 'searxng') return
    const report = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message })
    if (url === undefined) report('url', 'a searxng search needs the url of the server')
    if (api_key_env !== undefined) report('api_key_env', 'a searxng search takes no key')
  })

export function webSettingsSchema() {
  return z.strictObject({
    allow_private: setting(
      z.array(checked(hostFault)),
      'Hosts, as `name` or `name:port`, that `web_fetch` may reach although they are on this machine or in a private ' +
        'network. A host without a port is meant with all its ports.',
      { default_text: 'none', examples: [['docs.internal', 'localhost:8080']] },
    ),
    search: setting(
      searchSettingsSchema,
      'What `web_search` asks: `type` is `searxng` (with the `url` of the server), `brave` or `tavily` (with a key in ' +
        'the variable `api_key_env`, `BRAVE_API_KEY` or `TAVILY_API_KEY` when it is not said).',
      { default_text: 'none: there is no `web_search`', examples: [{ type: 'brave', api_key_env: 'BRAVE_API_KEY' }] },
    ),
  })
}

/** A search service with nothing left open. `url`: another address than the service's own. */
export type SearchSettings =
  | { type: 'searxng'; url: string }
  | { type: keyof typeof KEY_VARIABLES; url: string | null; api_key_env: string }

export function searchSettings({ type, url, api_key_env }: z.infer<typeof searchSettingsSchema>): SearchSettings {
  if (type === 'searxng') return { type, url: url ?? '' }
  return { type, url: url ?? null, api_key_env: api_key_env ?? KEY_VARIABLES[type] }
}

const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::(\d{1,5}))?$/i

function hostFault(host: string): string | null {
  const port = HOST.exec(host)
  if (port && Number(port[1] ?? 1) >= 1 && Number(port[1] ?? 1) <= 65_535) return null
  return `"${host}" is no host: write a name or an address, with or without a port, as in localhost:8080`
}
