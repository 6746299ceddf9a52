import { mkdir, writeFile } from 'node:fs/promises'
import { documentConfig } from '../src/control/index.js'
import { createConfigSurroundings } from '../src/library/project/configuration.js'

await mkdir('docs', { recursive: true })
await writeFile('docs/configuration.md', await documentConfig(createConfigSurroundings()))
