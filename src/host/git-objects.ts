/**
 * Takes the output of `git cat-file --batch=<nonce>` apart: a line with the nonce before each object, which nobody who
 * wrote the objects can know. Sizes would not help: bytes that are no UTF-8 have become others on the way.
 */
export function readObjects(
  nonce: string,
  { onObject, onText }: { onObject(number: number): void; onText(text: string): void },
) {
  const mark = `${nonce}\n`
  let held = ''
  let objects = 0
  function take(last: boolean): void {
    for (let at = held.indexOf(mark); at >= 0; at = held.indexOf(mark)) {
      if (objects > 0) onText(held.slice(0, at))
      onObject(objects++)
      held = held.slice(at + mark.length)
    }
    const kept = last ? 0 : Math.min(held.length, mark.length - 1)
    if (objects > 0) onText(held.slice(0, held.length - kept))
    held = held.slice(held.length - kept)
  }
  return {
    push(text: string) {
      held += text
      take(false)
    },
    end: () => take(true),
    objects: () => objects,
  }
}
