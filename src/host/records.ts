/** What a stream says one record at a time. */
export type Record = { bytes: Buffer; line: number | null }

/** Longer ones are cut; a line of a minified file can have many megabytes, and its matches as many again. */
const MAX_RECORD = 1024 * 1024
const LINE_NUMBER = '"line_number":'
const OVERLAP = 64

/**
 * Cuts a stream into records. Of one that is too long only the beginning is kept, and the line number that ripgrep
 * puts behind the text, so that the match can still be named.
 */
export class Records {
  #parts: Buffer[] = []
  #length = 0
  #overlap: Buffer | null = null
  #line: number | null = null

  constructor(
    private readonly separator: number,
    /** Answers whether to go on. */
    private readonly onRecord: (record: Record) => boolean,
  ) {}

  /** False when nothing more is wanted. */
  push(chunk: Buffer): boolean {
    let from = 0
    for (;;) {
      const end = chunk.indexOf(this.separator, from)
      this.#keep(chunk.subarray(from, end < 0 ? undefined : end))
      if (end < 0) return true
      from = end + 1
      const record = { bytes: Buffer.concat(this.#parts), line: this.#line }
      this.#parts = []
      this.#length = 0
      this.#overlap = null
      this.#line = null
      if (!this.onRecord(record)) return false
    }
  }

  #keep(part: Buffer): void {
    if (this.#length < MAX_RECORD) {
      this.#parts.push(part)
      this.#length += part.length
      if (this.#length >= MAX_RECORD) this.#scan(Buffer.concat(this.#parts))
    } else this.#scan(part)
  }

  #scan(part: Buffer): void {
    if (this.#line !== null) return
    const window = this.#overlap ? Buffer.concat([this.#overlap, part]) : part
    const at = window.indexOf(LINE_NUMBER)
    if (at >= 0) {
      const digits = /^\d+(?=,)/.exec(window.toString('latin1', at + LINE_NUMBER.length, at + OVERLAP))
      if (digits) this.#line = Number(digits[0])
    }
    this.#overlap = Buffer.from(window.subarray(-OVERLAP))
  }
}
