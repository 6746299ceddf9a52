const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Resolves when somebody wants this process to end, with the signal. A second one ends it at once, as always. */
export function untilEnded(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const end = (signal: NodeJS.Signals) => {
      for (const one of SIGNALS) process.off(one, end)
      resolve(signal)
    }
    for (const one of SIGNALS) process.on(one, end)
  })
}
