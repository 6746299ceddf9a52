/** The model port: the AI SDK behind one interface, and the scripted model. */
export type { LocalServer } from './local/server.js'
export type * from './model.js'
export { createModels, type ModelsOptions } from './providers.js'
export { createScriptedModel, type ScriptedModel, type ScriptedModelOptions } from './scripted/model.js'
export { readScript } from './scripted/read.js'
export { scriptOf } from './scripted/record.js'
export { recordScript, writeScript } from './scripted/write.js'
export { type ProviderSettings, providerSettingsSchema, providersSettingsSchema } from './settings.js'
