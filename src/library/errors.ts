/** What a caller of the library has to expect. The CLI turns each into an exit code. */
export const ERROR_CODES = [
  'input',
  'config',
  'model',
  'auth',
  'not_found',
  'denied',
  'conflict',
  'held',
  'abandoned',
  'corrupt',
  'store',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

export class RetinueError extends Error {
  override name = 'RetinueError'
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message)
  }
}
