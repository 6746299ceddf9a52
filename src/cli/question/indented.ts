import { printable } from '../style.js'

/** Every line of it with a bar in front, so that nothing in it can pass for something that Retinue says. */
export function indented(detail: string, most = Number.POSITIVE_INFINITY): string {
  const width = Math.max(20, (process.stderr.columns ?? 80) - 6)
  const lines = printable(detail)
    .split('\n')
    .flatMap((text) => text.match(new RegExp(`.{1,${width}}`, 'gu')) ?? [''])
  const shown = lines.slice(0, most).map((text) => `  │ ${text}`)
  return [...shown, ...(lines.length > most ? [`  … and ${lines.length - most} more lines`] : [])].join('\n')
}
