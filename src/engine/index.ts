export { answerSignalSchema } from './answers.js'
export * from './local.js'
