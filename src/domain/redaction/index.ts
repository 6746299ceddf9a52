/** Keeping secrets out of what is written down or shown. */
export { createRedactor, NOTHING_TO_REDACT, type Redactor, type Secret } from './redactor.js'
export type { RedactingStream } from './stream.js'
