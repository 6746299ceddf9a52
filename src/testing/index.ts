/** For tests of your own: a strict scripted model and a store in memory. */
export { createScriptedModel, readScript, type ScriptedModel, type ScriptedModelOptions } from '../models/index.js'
export { createMemoryStore } from '../store/index.js'
export { modelsOf } from './models.js'
