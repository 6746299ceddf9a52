import { askAt } from './ask.js'
import { type DiscoverOptions, discoverLocal } from './discover.js'
import { type LocalModel, type LocalProvider, type LocalServer, USUAL_ORIGINS } from './server.js'
import { vllmCallsTools } from './vllm.js'

export type LocalChoice =
  | { ok: true; server: LocalServer; model: LocalModel }
  | { ok: false; code: 'unknown_provider' | 'unknown_model' | 'no_tools'; message: string }

const PROBE_MS = 5000
const MAX_NAMED = 12

const SERVERS: Record<LocalProvider, { title: string; start: string; settle: string }> = {
  ollama: { title: 'Ollama', start: 'ollama serve', settle: 'set OLLAMA_HOST' },
  lmstudio: { title: 'LM Studio', start: 'lms server start', settle: 'configure a provider "lmstudio"' },
  llamacpp: { title: 'llama.cpp', start: 'llama-server -m <file>', settle: 'configure a provider "llamacpp"' },
  vllm: { title: 'vLLM', start: 'vllm serve <model>', settle: 'configure a provider "vllm"' },
}

/** The model that a name such as `ollama/qwen3` stands for, if it is here and can call tools. */
export async function chooseLocal(
  provider: LocalProvider,
  name: string,
  options: DiscoverOptions = {},
): Promise<LocalChoice> {
  const servers = (await discoverLocal(options)).filter((server) => server.provider === provider)
  if (servers.length === 0) return { ok: false, code: 'unknown_provider', message: nobody(provider) }
  for (const server of servers) {
    const model = server.models.find((candidate) => names(candidate, provider).includes(name))
    if (!model) continue
    const tools = await callsTools(server, model)
    if (tools === false) return { ok: false, code: 'no_tools', message: withoutTools(server, model, servers) }
    return { ok: true, server, model: { ...model, tools } }
  }
  return { ok: false, code: 'unknown_model', message: missing(provider, name, servers) }
}

/** The system prompt and the tools alone take some thousand tokens; with less than this nothing gets done. */
const ROOMY_TOKENS = 16_000

/** A model of this machine that can call tools, one with room first, then one in memory; null when there is none. */
export async function anyLocal(options: DiscoverOptions = {}): Promise<string | null> {
  const all = (await discoverLocal(options)).flatMap((server) => server.models.map((model) => ({ server, model })))
  const worth = ({ loaded, context_window }: LocalModel) =>
    Number((context_window ?? ROOMY_TOKENS) >= ROOMY_TOKENS) * 2 + Number(loaded ?? false)
  const ready = all.toSorted((a, b) => worth(b.model) - worth(a.model))
  for (const { server, model } of ready) {
    if (await callsTools(server, model)) return `${server.provider}/${model.name}`
  }
  return null
}

async function callsTools(server: LocalServer, model: LocalModel): Promise<boolean | null> {
  if (server.provider !== 'vllm') return model.tools
  return vllmCallsTools(askAt(server.origin, PROBE_MS), model.name)
}

/** Everything a person may call it. A file of llama.cpp's is known by its path. */
function names({ name }: LocalModel, provider: LocalProvider): string[] {
  if (provider === 'ollama') return [name, name.replace(/:latest$/, '')]
  if (provider !== 'llamacpp') return [name]
  const file = name.slice(name.lastIndexOf('/') + 1)
  return [name, file, file.replace(/\.gguf$/, '')]
}

function nobody(provider: LocalProvider): string {
  const { title, start, settle } = SERVERS[provider]
  const usual = USUAL_ORIGINS[provider].slice('http://'.length)
  return `no ${title} answers here: start it (${start}, usually at ${usual}), or, where it listens elsewhere, ${settle}`
}

function missing(provider: LocalProvider, name: string, servers: LocalServer[]): string {
  const there = servers.flatMap((server) => server.models.map((model) => `${provider}/${model.name}`))
  const where = servers.map(({ origin }) => origin.slice('http://'.length)).join(', ')
  const pull = provider === 'ollama' ? `; get it with: ollama pull ${name}` : ''
  const only = there.length > 0 ? `only ${listed(there)}` : 'nor any other (it may still be loading one)'
  return `${SERVERS[provider].title} at ${where} has no model "${name}", ${only}${pull}`
}

function withoutTools(server: LocalServer, model: LocalModel, servers: LocalServer[]): string {
  const { provider } = server
  const able = servers.flatMap(({ models }) => models.filter(({ tools }) => tools === true))
  const others = able.length > 0 ? `. These can: ${listed(able.map(({ name }) => `${provider}/${name}`))}` : ''
  return `${provider}/${model.name} cannot call tools, and an agent works by calling them${ADVICE[provider]}${others}`
}

const ADVICE: Record<LocalProvider, string> = {
  ollama: '. "ollama show" lists what a model is capable of',
  lmstudio: '',
  llamacpp: '. Start llama-server with --jinja and a model whose chat template has tools',
  vllm: '. Start vLLM with --enable-auto-tool-choice and --tool-call-parser',
}

function listed(names: string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return `${names.slice(0, MAX_NAMED).join(', ')}${more}`
}
