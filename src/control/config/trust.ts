import { isDatabaseUrl, MODES, type Mode, NETWORKS } from '../../domain/index.js'
import type { Fault } from './explain.js'
import { isScripted } from './models.js'
import { isWithin, machinePath } from './paths.js'
import type { ResolvedConfig } from './resolve.js'
import type { Config } from './schema.js'
import type { Places } from './surroundings.js'
import { delegationRefusals } from './trust-delegation.js'
import { workspaceRefusals } from './trust-workspace.js'

/** Whether the person has listed the project's folder. A folder above it does not count: it may hold strangers' too. */
export function isTrusted(user: Config, places: Places): boolean {
  return (user.trusted_projects ?? []).some((folder) => machinePath(folder, places) === machinePath('.', places))
}

/**
 * What a project's file says that it may not say. It may come from a stranger, with the repository, so unless it is
 * trusted it can only narrow what holds without it: a wider mode or network, a larger budget, limit or timeout, further
 * allow rules, no sandbox, more or freer sub-agents, a command for fresh worktrees, results that reach the folder in a
 * bolder way, answers written beforehand, a place to send requests to and a place to write outside the folder are
 * refused.
 */
export function trustFaults(
  project: Config,
  user: Config,
  without: ResolvedConfig,
  trust: { trusted: boolean; user_file: string; places: Places },
): Fault[] {
  const faults: Fault[] = []
  const refuse = (path: Fault['path'], message: string, at: Fault['at'] = 'value') =>
    faults.push({ path, at, message, nearest: null })
  if (project.trusted_projects !== undefined) {
    refuse(['trusted_projects'], `trusted_projects is for your own file: ${trust.user_file}`, 'key')
  }
  for (const key of ['principals', 'server', 'workers'] as const) {
    if (project[key] !== undefined) refuse([key], `${key} is for your own file: ${trust.user_file}`, 'key')
  }
  if (project.engine !== undefined) {
    const where = `${trust.user_file}, with --engine or RETINUE_ENGINE`
    refuse(['engine'], `a project's file cannot say where agents run: say it in ${where}`, 'key')
  }
  const store = project.store
  if (store !== undefined && isDatabaseUrl(store)) {
    const where = `${trust.user_file}, with --store or RETINUE_STORE`
    refuse(
      ['store'],
      `a project's file cannot name a database for the store, where all runs would go: say it in ${where}`,
    )
  }
  if (trust.trusted) return faults

  const remedy = `say it in ${trust.user_file}, or list this folder there under trusted_projects`
  if (project.model && isScripted(project.model) && project.model !== user.model) {
    refuse(['model'], `a project's file cannot choose ${project.model}, ${SCRIPTED}: ${remedy}`)
  }
  for (const [name, pool] of Object.entries(project.pools ?? {})) {
    for (const [i, model] of pool.entries()) {
      if (isScripted(model))
        refuse(['pools', name, i], `a project's file cannot choose ${model}, ${SCRIPTED}: ${remedy}`)
    }
  }
  if (project.mode && isWider(project.mode, without.mode)) {
    refuse(['mode'], `a project's file cannot widen the mode from ${without.mode} to ${project.mode}: ${remedy}`)
  }
  for (const [i, rule] of (project.permissions?.allow ?? []).entries()) {
    if (user.permissions?.allow?.includes(rule)) continue
    refuse(['permissions', 'allow', i], `a project's file cannot allow ${rule}: ${remedy}`)
  }
  const network = without.permissions.network ?? (without.mode === 'dangerous' ? 'all' : 'tools')
  const asked = project.permissions?.network
  if (asked && NETWORKS.indexOf(asked) > NETWORKS.indexOf(network)) {
    refuse(
      ['permissions', 'network'],
      `a project's file cannot widen the network from ${network} to ${asked}: ${remedy}`,
    )
  }
  if (project.sandbox === 'off' && without.sandbox !== 'off') {
    refuse(['sandbox'], `a project's file cannot turn the sandbox off: ${remedy}`)
  }
  for (const [i, host] of (project.web?.allow_private ?? []).entries()) {
    if (without.web.allow_private.includes(host.toLowerCase())) continue
    refuse(['web', 'allow_private', i], `a project's file cannot let the private host ${host} be reached: ${remedy}`)
  }
  if (project.web?.search) {
    refuse(['web', 'search'], `a project's file cannot choose where the web is searched: ${remedy}`, 'key')
  }
  for (const { path, from, to } of raised(project, without)) {
    refuse(path, `a project's file cannot raise ${path.at(-1)} from ${from} to ${to}: ${remedy}`)
  }
  const refusals = [...delegationRefusals(project, user, without), ...workspaceRefusals(project, without)]
  for (const { path, what } of refusals) {
    refuse(path, `a project's file cannot ${what}: ${remedy}`)
  }
  for (const [name, provider] of Object.entries(project.providers ?? {})) {
    const reason = providerFault(provider, user.providers !== undefined && Object.hasOwn(user.providers, name))
    if (reason) refuse(['providers', name], `a project's file cannot set provider ${name}, ${reason}: ${remedy}`, 'key')
  }
  const isFile = store !== undefined && !isDatabaseUrl(store)
  if (isFile && !isWithin(trust.places.project_dir, machinePath(store, trust.places))) {
    refuse(['store'], `a project's file cannot put the store outside its folder: ${remedy}`)
  }
  return faults
}

const SCRIPTED = 'whose answers somebody wrote beforehand'

/** Groups of numbers, and numbers, of which more costs the person more: money, time, memory, or what a model is shown. */
const GROUPS = ['budget', 'limits', 'retry'] as const
const NUMBERS = ['model_timeout_ms', 'idle_timeout_ms'] as const

function raised(project: Config, without: ResolvedConfig): { path: string[]; from: number; to: number }[] {
  type Pair = { path: string[]; from: number | null | undefined; to: number | undefined }
  const grouped = GROUPS.flatMap((group) => {
    const limits: Readonly<Record<string, number | null>> = without[group]
    return Object.entries(project[group] ?? {}).map(
      ([name, to]): Pair => ({ path: [group, name], from: limits[name], to }),
    )
  })
  const single = NUMBERS.map((name): Pair => ({ path: [name], from: without[name], to: project[name] }))
  return [...grouped, ...single].flatMap(({ path, from, to }) => {
    return from == null || to === undefined || to <= from ? [] : [{ path, from, to }]
  })
}

function isWider(mode: Mode, than: Mode): boolean {
  return MODES.indexOf(mode) > MODES.indexOf(than)
}

/** Keys of a provider that can carry nothing of the person's away. Whatever is added to providers is not among them. */
const HARMLESS = ['type', 'base_url', 'context_window', 'idle_timeout_ms']

/** Why a provider could take the person's key or words to a place they did not choose, or null. */
function providerFault(provider: unknown, isUsers: boolean): string | null {
  if (isUsers) return 'which is in your own file'
  const settings = new Map(Object.entries(Object(provider)).filter(([, value]) => value !== undefined))
  const harmful = [...settings.keys()].find((key) => !HARMLESS.includes(key))
  if (harmful) return `which has ${harmful}`
  // The other types find the person's key by themselves.
  if (settings.get('type') !== 'openai-compatible') return 'which is not openai-compatible'
  return isLoopback(settings.get('base_url')) ? null : 'which is not on this machine'
}

function isLoopback(url: unknown): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  const isHttp = protocol === 'http:' || protocol === 'https:'
  return isHttp && (hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname))
}
