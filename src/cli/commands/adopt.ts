import { EXIT } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'

/** `retinue adopt`: a store that was copied, or came with the folder, is the person's own from now on. */
export async function adopt(options: StoreOptions): Promise<number> {
  return withRetinue(options, async (retinue) => {
    const adopted = await retinue.adopt()
    const said = adopted ? 'The store of this folder is yours now.' : 'The store of this folder is yours already.'
    process.stdout.write(`${said} Its runs: retinue runs. Its agents and pins: retinue agents.\n`)
    return EXIT.ok
  })
}
