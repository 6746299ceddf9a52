/** Money of models. What nobody knows is said to be unknown, never zero. */
export function costInWords(usd: number | null): string {
  if (usd === null) return 'cost unknown'
  if (usd > 0 && usd < 0.0001) return 'less than $0.0001'
  return `$${usd === 0 || usd >= 1 ? usd.toFixed(2) : usd.toPrecision(2)}`
}

export function timeInWords(ms: number): string {
  if (ms < 1000) return `${ms} ms`
  const seconds = Math.round(ms / 100) / 10
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const whole = Math.round(ms / 1000)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}
