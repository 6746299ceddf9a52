export { type AnswerSignal, TAKEN_WITHIN_MS } from './answers.js'
export { askedFor } from './dbos/asked-for.js'
export { databaseOf } from './dbos/database.js'
export { Dispatch } from './dbos/dispatch.js'
export { givenToWorkers } from './dbos/given.js'
export { type PresentWorker, presentWorkers, waitingForLabels } from './dbos/present.js'
export { type Here, Routes } from './dbos/routes.js'
export { Words } from './dbos/words.js'
export { QueueWorker, type WorkerHealth, type WorkerNews } from './dbos/worker.js'
export { WorkerEngine } from './dbos/worker-engine.js'
export type { Engine } from './engine.js'
export { LocalEngine } from './local.js'
export {
  deferredIn,
  leaveAlone,
  leaveResting,
  type PauseSignal,
  pauseIn,
  pauseInWords,
  type ResumeSignal,
  resumeOf,
} from './pausing.js'
export { AT_REST, rest } from './rest.js'
