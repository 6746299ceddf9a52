import type { Mode, Retinue, RunSummary, Session } from '../../index.js'

type Choice = { model: string | null; mode: Mode | null }

/** The session that is talked in. It is made when something is first said in it, so that a look around leaves nothing. */
export class Conversation {
  #session: Session | null
  #choice: Choice

  constructor(
    private readonly retinue: Retinue,
    private readonly owner: string,
    session: Session | null,
    asked: Partial<Choice> = {},
  ) {
    this.#session = session
    this.#choice = { model: asked.model ?? session?.model ?? null, mode: asked.mode ?? session?.mode ?? null }
  }

  get session_id(): string | null {
    return this.#session?.session_id ?? null
  }

  /** null: as everywhere. */
  get model(): string | null {
    return this.#choice.model
  }

  get mode(): Mode | null {
    return this.#choice.mode
  }

  get tasks(): readonly string[] {
    return this.#session?.tasks ?? []
  }

  async open(): Promise<Session> {
    this.#session ??= await this.retinue.sessions.create(this.owner)
    const { session_id, model, mode } = this.#session
    if (model !== this.#choice.model || mode !== this.#choice.mode) {
      this.#session = await this.retinue.sessions.update(session_id, this.#choice)
    }
    return this.#session
  }

  async choose(choice: Partial<Choice>): Promise<void> {
    this.#choice = { ...this.#choice, ...choice }
    if (this.#session) await this.open()
  }

  /** The session to say something in, with a title from the first thing that is said. */
  async say(text: string): Promise<Session> {
    const session = await this.open()
    if (session.title !== '') return session
    const title = (text.trim().split('\n', 1)[0] as string).slice(0, 100)
    this.#session = await this.retinue.sessions.update(session.session_id, { title })
    return this.#session
  }

  async addTask(run_id: string): Promise<void> {
    const { session_id } = await this.open()
    this.#session = await this.retinue.sessions.addTask(session_id, run_id)
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

  /** Begins another session. What was chosen for this one holds for that one too. */
  leave(): Session | null {
    const left = this.#session
    this.#session = null
    return left
  }
}
