import {
  type Catalog,
  effectivePin,
  listProfiles,
  localPrincipalId,
  resolveProfile,
  workspaceId,
} from '../control/index.js'
import { isAtLeast, type Mode, narrowerMode, type PinPlace, type Principal } from '../domain/index.js'
import type { Store } from '../store/index.js'
import type { Choices, RunOptions, Sessions, Settings } from './api.js'
import type { Catalogs } from './catalogs.js'
import { principalFor } from './control-plane.js'
import { RetinueError } from './errors.js'
import type { As } from './runs/preparation.js'

type Parts = {
  cwd: string
  store: Store
  settings: Settings
  sessions: Sessions
  catalogs: Catalogs
  /** The name that the machine has for the person whose process this is. */
  user: string
}

/** Who asks for something, what they may start, and what their runs have where they name nothing else. */
export class Callers {
  constructor(private readonly parts: Parts) {}

  /** `name` undefined: the person whose process this is. */
  principal(name: string | undefined): Principal {
    const { user, settings } = this.parts
    return principalFor(name, { local: { id: localPrincipalId(user) }, principals: settings.principals ?? {} })
  }

  /**
   * Whoever makes agents work. `mode`: the one in effect, wherever it comes from. In dangerous mode nothing is asked and
   * no command fenced in, on a machine that may be somebody else's.
   */
  operator(name: string | undefined, mode: Mode): Principal {
    const principal = this.principal(name)
    const { id, role } = principal
    if (!isAtLeast(role, 'operator'))
      throw new RetinueError('denied', `${id} is a ${role}: only operators and admins start runs`)
    if (mode === 'dangerous' && !isAtLeast(role, 'admin')) {
      throw new RetinueError(
        'denied',
        `${id} is an ${role}, and only admins run in dangerous mode: name another mode for a new run, such as auto`,
      )
    }
    return principal
  }

  /** With the model of its session, and of that one's mode and the usual one the narrower, unless it names others. */
  async inSession<O extends Pick<RunOptions, 'session_id' | 'model' | 'mode'>>(options: O): Promise<O> {
    const { sessions, settings } = this.parts
    const session = options.session_id ? await sessions.known(options.session_id) : null
    if (!session) return options
    const mode = options.mode ?? (session.mode && narrowerMode(session.mode, settings.mode ?? 'normal'))
    const model = options.model ?? session.model
    return { ...options, ...(mode ? { mode } : {}), ...(model ? { model } : {}) }
  }

  /** The profile that a run names, else the one that is pinned for whoever it is and wherever this is. */
  async profileOf({ profile, session_id }: RunOptions, operator: Principal, catalog: Catalog): Promise<As | null> {
    if (profile === null) return null
    if (profile !== undefined) {
      const found = resolveProfile(catalog, profile)
      if (!found.ok) throw new RetinueError('input', found.message)
      return found
    }
    const pin = await effectivePin(this.parts.store, this.#pinPlace(operator, session_id), catalog)
    if (!pin.ok) throw new RetinueError('config', pin.message)
    return pin.pinned
  }

  async choices({ session_id, principal }: { session_id?: string; principal?: string } = {}): Promise<Choices> {
    const { catalogs, store, settings } = this.parts
    const catalog = await catalogs.load({ lenient: true })
    const found = await effectivePin(store, this.#pinPlace(this.principal(principal), session_id), catalog)
    const { model, mode = 'normal' } = settings
    return {
      agents: listProfiles(catalog),
      pin: found.ok ? (found.pinned?.pin ?? null) : found.pin,
      defaults: { model: model?.name ?? null, mode },
    }
  }

  #pinPlace({ id }: Principal, session_id: string | undefined): PinPlace {
    return { session: session_id ?? null, user: id, workspace: workspaceId(this.parts.cwd) }
  }
}
