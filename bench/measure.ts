export type Sample = { wall_ms: number; cpu_ms: number }

export async function measure(work: () => Promise<unknown>): Promise<Sample> {
  globalThis.gc?.()
  const cpu = process.cpuUsage()
  const wall = performance.now()
  await work()
  const used = process.cpuUsage(cpu)
  return { wall_ms: performance.now() - wall, cpu_ms: (used.user + used.system) / 1000 }
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] as number
}
