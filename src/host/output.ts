/**
 * The first and the last half of a stream of bytes, in memory that never grows past the limit. Whole characters
 * only: where the middle is left out, characters cut in two are left out with it.
 */
export class BoundedBytes {
  readonly #headLimit: number
  readonly #tailLimit: number
  #head: Buffer = Buffer.alloc(0)
  #headBytes = 0
  #tail: Buffer | null = null
  /** Bytes that went past the head; the tail keeps the last of them, as a ring. */
  #tailSeen = 0

  constructor(limit: number) {
    this.#tailLimit = Math.floor(limit / 2)
    this.#headLimit = limit - this.#tailLimit
  }

  get bytes(): number {
    return this.#headBytes + this.#tailSeen
  }

  /** Takes a copy: the chunk may be used again by its owner. */
  push(chunk: Buffer): void {
    const forHead = Math.min(chunk.length, this.#headLimit - this.#headBytes)
    if (forHead > 0) this.#pushHead(chunk.subarray(0, forHead))
    if (forHead < chunk.length) this.#pushTail(chunk.subarray(forHead))
  }

  #pushHead(chunk: Buffer): void {
    const needed = this.#headBytes + chunk.length
    if (needed > this.#head.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#headLimit, Math.max(needed, this.#head.length * 2, 1024)))
      this.#head.copy(grown, 0, 0, this.#headBytes)
      this.#head = grown
    }
    chunk.copy(this.#head, this.#headBytes)
    this.#headBytes = needed
  }

  #pushTail(chunk: Buffer): void {
    const size = this.#tailLimit
    this.#tail ??= Buffer.allocUnsafe(size)
    const kept = chunk.subarray(Math.max(0, chunk.length - size))
    const at = size === 0 ? 0 : (this.#tailSeen + chunk.length - kept.length) % size
    const first = Math.min(kept.length, size - at)
    kept.copy(this.#tail, at, 0, first)
    kept.copy(this.#tail, 0, first)
    this.#tailSeen += chunk.length
  }

  /** What was kept as text, broken bytes replaced, with a line where something is missing. */
  read(): { text: string; dropped: number } {
    const head = this.#head.subarray(0, this.#headBytes)
    const tail = this.#orderedTail()
    if (this.#tailSeen <= this.#tailLimit) return { text: Buffer.concat([head, tail]).toString('utf8'), dropped: 0 }
    const first = head.subarray(0, head.length - partialCharacter(head))
    const last = tail.subarray(continuationBytes(tail))
    const dropped = this.bytes - first.length - last.length
    return { text: `${first.toString('utf8')}\n[... ${dropped} bytes left out ...]\n${last.toString('utf8')}`, dropped }
  }

  #orderedTail(): Buffer {
    if (!this.#tail) return Buffer.alloc(0)
    if (this.#tailSeen <= this.#tailLimit) return this.#tail.subarray(0, this.#tailSeen)
    const start = this.#tailLimit === 0 ? 0 : this.#tailSeen % this.#tailLimit
    return Buffer.concat([this.#tail.subarray(start), this.#tail.subarray(0, start)])
  }
}

/** Holds back the beginning of a character until the rest has come, so that pieces can be shown and mixed safely. */
export class WholeCharacters {
  #held = Buffer.alloc(0)

  push(chunk: Buffer): Buffer {
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    const partial = partialCharacter(bytes)
    // A copy: the chunk may be used again by its owner.
    this.#held = Buffer.from(bytes.subarray(bytes.length - partial))
    return bytes.subarray(0, bytes.length - partial)
  }

  /** What is left when nothing more will come: at most the beginning of one character. */
  end(): Buffer {
    const rest = this.#held
    this.#held = Buffer.alloc(0)
    return rest
  }
}

/** How many bytes at the end begin a UTF-8 character that is not complete. */
function partialCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return characterLength(byte) > back ? back : 0
  }
  return 0
}

function characterLength(first: number): number {
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
}

/** How many bytes at the start belong to a character that began earlier. */
function continuationBytes(bytes: Buffer): number {
  let n = 0
  while (n < Math.min(3, bytes.length) && ((bytes[n] ?? 0) & 0xc0) === 0x80) n++
  return n
}
