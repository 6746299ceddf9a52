/** Lets everything else have its turn, between two pieces of work that never wait for anything. */
export function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
