/** Says that something happened, also to whoever asks only afterwards. */
export class Bell {
  #rang = false
  #answer = () => {}

  readonly ring = (): void => {
    this.#rang = true
    this.#answer()
  }

  /** Resolves when it has rung since the last who waited for it went on. For one at a time. */
  async rung(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#answer = resolve
      if (this.#rang) resolve()
    })
    this.#rang = false
  }
}
