/** For tests of your own: a strict scripted model, a store in memory, and the suite that every store must pass. */
export { createScriptedModel, readScript, type ScriptedModel, type ScriptedModelOptions } from '../models/index.js'
export { type Subject, storeConformance } from '../store/conformance.js'
export { createMemoryStore } from '../store/index.js'
export { modelsOf } from './models.js'
