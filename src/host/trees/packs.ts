import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Gives the packs in a folder to a repository, each whole before it has a name there. */
export async function givePacks(from: string, to: string): Promise<void> {
  const names = (await readdir(from)).filter((name) => /^pack-.*\.(?:pack|idx|rev)$/.test(name))
  // A pack is used as soon as its index is there, so that comes last.
  names.sort((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))
  await mkdir(to, { recursive: true })
  // Older versions of git remove a pack that has no index yet when they pack everything anew, unless it is to be kept.
  const keeps = names.filter((name) => name.endsWith('.pack')).map((name) => join(to, name.replace(/pack$/, 'keep')))
  for (const keep of keeps) await writeFile(keep, '')
  for (const name of names) {
    // A name that git removes by itself when it is found abandoned.
    const temporary = join(to, `tmp_pack_${randomBytes(8).toString('hex')}`)
    await copyFile(join(from, name), temporary)
    const handle = await open(temporary, 'r')
    await handle.sync().finally(() => handle.close())
    await rename(temporary, join(to, name))
  }
  for (const keep of keeps) await rm(keep, { force: true })
}
