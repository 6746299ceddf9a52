/** Of a worker, in a sentence. */
export function labelsInWords(labels: readonly string[]): string {
  return `the label${labels.length === 1 ? '' : 's'} ${labels.join(', ')}`
}
