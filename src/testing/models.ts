import type { Model, Models } from '../models/index.js'

/** Models to hand to `createRetinue`: these and no others. The first is taken where none is named. */
export function modelsOf(...models: [Model, ...Model[]]): Models {
  return {
    async resolve(name) {
      const model = models.find((candidate) => candidate.name === name)
      if (model) return { ok: true, model }
      const known = models.map((candidate) => candidate.name).join(', ')
      return { ok: false, code: 'unknown_provider', message: `There is no model ${name} in this test, only ${known}` }
    },
    available: () => models.map((model) => ({ provider: model.name, ready: true, hint: 'for tests' })),
    discover: async () => [],
    fallback: async () => models[0].name,
  }
}
