import { storeConformance } from '../../src/store/conformance.js'
import { createMemoryStore } from '../../src/store/index.js'

storeConformance('memory', async () => {
  const store = createMemoryStore({ clock: { now: () => Date.now() } })
  return { store, close: () => store.close() }
})
