/** Long tables are sampled in `npm test` and whole in `npm run test:full`. */
export function sampled<T>(cases: readonly T[], every: number): T[] {
  return process.env.RETINUE_FULL ? [...cases] : cases.filter((_, index) => index % every === 0)
}
