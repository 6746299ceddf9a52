import { type Mode, narrowerMode, type Retinue, type RunSummary, type Session } from '../../index.js'

type Choice = { model?: string; mode?: Mode }

/** The session that is talked in. It is made when something is first said in it, so that a look around leaves nothing. */
export class Conversation {
  #session: Session | null
  /** In this process; what the session has besides came with it. */
  #chosen: Choice
  #changed: Promise<unknown> = Promise.resolve()

  /** `asked`: on the command line, for whatever session; `configured`: the mode of those who ask for none. */
  constructor(
    private readonly retinue: Retinue,
    private readonly owner: string,
    session: Session | null,
    private readonly asked: Choice = {},
    private readonly configured: Mode = 'normal',
  ) {
    this.#session = session
    this.#chosen = asked
  }

  get session_id(): string | null {
    return this.#session?.session_id ?? null
  }

  /** null: as everywhere. */
  get model(): string | null {
    return this.#chosen.model ?? this.#session?.model ?? null
  }

  /** What a session was allowed once, beyond what is configured, it is not allowed for ever. */
  get mode(): Mode | null {
    const { mode = null } = this.#session ?? {}
    return this.#chosen.mode ?? (mode && narrowerMode(mode, this.configured))
  }

  get tasks(): readonly string[] {
    return this.#session?.tasks ?? []
  }

  open(): Promise<Session> {
    return this.#inTurn(() => this.#opened())
  }

  choose(choice: Choice): Promise<void> {
    return this.#inTurn(async () => {
      this.#chosen = { ...this.#chosen, ...choice }
      if (this.#session) await this.#opened()
    })
  }

  /** The session to say something in, with a title from the first thing that is said. */
  say(text: string): Promise<Session> {
    return this.#inTurn(async () => {
      const session = await this.#opened()
      if (session.title !== '') return session
      this.#session = await this.retinue.sessions.update(session.session_id, { title: text })
      return this.#session
    })
  }

  addTask(run_id: string): Promise<void> {
    return this.#inTurn(async () => {
      const { session_id } = await this.#opened()
      this.#session = await this.retinue.sessions.addTask(session_id, run_id)
    })
  }

  /** What others who talk in the session have changed. */
  refresh(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#session) this.#session = (await this.retinue.sessions.known(this.#session.session_id)) ?? this.#session
    })
  }

  /** Newest first. */
  async runs(): Promise<RunSummary[]> {
    return this.#session ? this.retinue.runs({ session_id: this.#session.session_id }) : []
  }

  /** The last run of it, if that is not closed: nothing can be said before it is. */
  async unfinished(): Promise<RunSummary | null> {
    if (!this.#session) return null
    const [last] = await this.retinue.runs({ session_id: this.#session.session_id, limit: 1 })
    return last && last.status !== 'closed' ? last : null
  }

  /** Begins another session, for which nothing is chosen but what the command line said. */
  leave(): Promise<Session | null> {
    return this.#inTurn(async () => {
      const left = this.#session
      this.#session = null
      this.#chosen = this.asked
      return left
    })
  }

  async #opened(): Promise<Session> {
    this.#session ??= await this.retinue.sessions.create(this.owner)
    const { session_id, ...stored } = this.#session
    const { model = stored.model, mode = stored.mode } = this.#chosen
    if (model !== stored.model || mode !== stored.mode) {
      this.#session = await this.retinue.sessions.update(session_id, { model, mode })
    }
    return this.#session
  }

  /** One change after the other: what is said and done side by side must not make two sessions, nor lose a task. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#changed.then(change)
    this.#changed = done.catch(() => {})
    return done
  }
}
