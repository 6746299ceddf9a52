/** The model port: the AI SDK behind one interface, and the scripted model. */
export type * from './model.js'
export { createModels, type ModelsOptions } from './providers.js'
export { createScriptedModel, type ScriptedModel, type ScriptedModelOptions } from './scripted/model.js'
export { readScript } from './scripted/read.js'
export { type ProviderSettings, providerSettingsSchema, providersSettingsSchema } from './settings.js'
