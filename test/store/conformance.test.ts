import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { storeConformance } from '../../src/store/conformance.js'
import { createMemoryStore, type Store } from '../../src/store/index.js'
import { openUrl, schemas } from './postgres.js'
import { clock, folder, openFile } from './sqlite.js'

storeConformance('memory', async () => {
  const store = createMemoryStore({ clock })
  return { store, close: () => store.close() }
})

storeConformance('sqlite', async () => {
  const path = await folder()
  const opened: Store[] = []
  const reopen = async () => {
    const store = await openFile(join(path, 'retinue.db'))
    opened.push(store)
    return store
  }
  const close = async () => {
    await Promise.all(opened.map((store) => store.close()))
    await rm(path, { recursive: true })
  }
  return { store: await reopen(), reopen, close }
})

const place = schemas()

storeConformance('postgres', async () => {
  const url = await place()
  const opened: Store[] = []
  const reopen = async () => {
    const store = await openUrl(url)
    opened.push(store)
    return store
  }
  const close = async () => {
    await Promise.all(opened.map((store) => store.close()))
  }
  return { store: await reopen(), reopen, close }
})
