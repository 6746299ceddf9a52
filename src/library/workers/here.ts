import type { Here } from '../../engine/index.js'
import type { Host } from '../../host/index.js'
import { blobDigest } from '../../store/index.js'

/** Which checkout of which project a folder is. Clones of one origin are one project, unless somebody names it. */
export async function hereIn(host: Host, cwd: string, named: string | undefined): Promise<Here> {
  const { id: checkout, origin } = await host.checkout(cwd)
  const common = named ?? origin
  return { checkout, project: common === null ? checkout : blobDigest(common).slice(0, 16) }
}
