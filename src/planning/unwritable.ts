import { type Authority, actingTools } from '../domain/index.js'

/** With one of these a sub-agent can make a file what a step wants it to be. */
const TOOLS = ['write_file', 'edit_file', 'run_command']

/**
 * Why the sub-agents of a plan run cannot write, in words, or null. `permissions`: of its root agent; `read_only`: its
 * steps are held to plan mode; `ask_person`: whether sub-agents may ask whom their parent may.
 */
export function whyUnwritable(
  permissions: Authority,
  { read_only, ask_person }: { read_only: boolean; ask_person: boolean },
): string | null {
  if (read_only || permissions.mode === 'plan') return 'in plan mode nobody writes'
  if (permissions.write_paths.some((layer) => layer.length === 0))
    return 'write_paths of the settings lets nobody write'
  const acting = actingTools({ ...permissions, can_ask_person: permissions.can_ask_person && ask_person })
  if (TOOLS.some((tool) => acting.includes(tool))) return null
  return permissions.mode === 'normal'
    ? 'in normal mode sub-agents cannot write without asking: use --mode auto, or allow write_file by a rule'
    : 'the rules or the tools of the run keep everybody from writing: allow write_file'
}
