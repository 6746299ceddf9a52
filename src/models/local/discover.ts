import { askAt } from './ask.js'
import { readLlamaCpp } from './llamacpp.js'
import { readLmStudio } from './lmstudio.js'
import { readOllama } from './ollama.js'
import { type LocalServer, USUAL_ORIGINS } from './server.js'
import { readVllm } from './vllm.js'

export type DiscoverOptions = {
  /** Where to look. Default: where Ollama, LM Studio, llama.cpp and vLLM usually listen. */
  origins?: readonly string[]
  /** How long something may take to say what it is. */
  timeout_ms?: number
  /** Kinds of servers to leave out: those that somebody configured. */
  without?: readonly string[]
}

/** On this machine an answer takes a few milliseconds, or somebody is too busy to be of use. */
const TIMEOUT_MS = 300
/** For questions to a server that is known to be one. */
const PATIENT_MS = 2000

/** The model servers of this machine, told apart by what they answer and not by where they are. */
export async function discoverLocal(options: DiscoverOptions = {}): Promise<LocalServer[]> {
  const { origins = Object.values(USUAL_ORIGINS), timeout_ms = TIMEOUT_MS, without = [] } = options
  const found = await Promise.all([...new Set(origins)].map((origin) => identify(origin, timeout_ms)))
  return found.filter((server) => server !== null).filter(({ provider }) => !without.includes(provider))
}

async function identify(origin: string, timeout_ms: number): Promise<LocalServer | null> {
  const ask = askAt(origin, timeout_ms)
  const patiently = askAt(origin, Math.max(timeout_ms, PATIENT_MS))
  // All four answer this one, so that nobody else is asked more.
  const list = await ask('/v1/models')
  if (list.kind !== 'json') return null
  return (
    (await readVllm(origin, patiently, list)) ??
    (await readLlamaCpp(origin, patiently, list)) ??
    (await readOllama(origin, ask, patiently)) ??
    (await readLmStudio(origin, ask))
  )
}
