export type { AnswerSignal } from './answers.js'
export * from './local.js'
