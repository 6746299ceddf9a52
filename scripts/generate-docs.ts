import { mkdir, writeFile } from 'node:fs/promises'
import { createConfigSurroundings } from '../src/configuration.js'
import { documentConfig } from '../src/control/index.js'

await mkdir('docs', { recursive: true })
await writeFile('docs/configuration.md', await documentConfig(createConfigSurroundings()))
