import type { Check, Child, DelegationRequest } from '../domain/index.js'
import { checksOf } from './launcher.js'

/** Of the changes, so much is shown; the rest is in the files. */
const CHANGES_CHARS = 30_000

/** A merge that failed: the files, and what it would do to those of the parent, with both sides where they conflict. */
export type Conflict = { paths: string[]; changes: string }

/** What a sub-agent is asked for that gets both sides of a conflict and must resolve it, under the same gates. */
export function repairRequest(child: Child, { paths, changes }: Conflict): DelegationRequest {
  const whole = changes.length <= CHANGES_CHARS
  const shown = whole ? changes : `${changes.slice(0, CHANGES_CHARS)}\n[cut after ${CHANGES_CHARS} characters]`
  const task = [
    `The changes that sub-agent ${child.id} made conflict with what others changed meanwhile, in: ${paths.join(', ')}`,
    'Below is what a merge would do to the files as they are now, with both sides of each conflict between <<<<<<< and >>>>>>>. Make these changes, so that what both sides are for is kept. No such marker may be left.',
    `What ${child.id} was to do:\n${child.contract?.step.description ?? child.title}`,
    // What is shown cannot end the frame that it stands in.
    `<changes>\n${shown.replace(/<(?=\s*\/?\s*changes)/gi, '&lt;')}\n</changes>`,
  ].join('\n\n')
  const { owns } = child.contract?.workspace ?? {}
  return {
    task,
    title: `Resolve the conflict of ${child.id}: ${child.title}`,
    ...(owns ? { owns } : {}),
    success_criteria: child.contract?.step.success_criteria ?? [],
    checks: [noMarkers(paths), ...checksOf(child)],
  }
}

function noMarkers(paths: readonly string[]): Check {
  const quoted = paths.map((path) => `'${path.replaceAll("'", "'\\''")}'`)
  return { kind: 'command', command: `! grep -nE '^(<<<<<<<|>>>>>>>) ' -- ${quoted.join(' ')}` }
}
