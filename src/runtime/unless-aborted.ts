/** Waits for something as long as nobody stops the wait. undefined: it was aborted first. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  // Whatever becomes of it then is nobody's business.
  work.catch(() => {})
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined)
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
