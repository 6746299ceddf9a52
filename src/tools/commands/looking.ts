import { baseName, type CommandPart } from '../../domain/index.js'

/** Programs that only print what they find, unless words that `spelled` or `hides` tell of make them do more. */
const LOOKING = new Set(
  (
    'ls cat head tail wc grep egrep fgrep rg find fd pwd cd echo printf sort uniq cut tr nl stat file du df tree which ' +
    'type date true false test [ basename dirname realpath readlink diff cmp comm column jq sed awk less more od xxd ' +
    'hexdump strings md5sum sha1sum sha256sum seq uname whoami id env printenv'
  ).split(' '),
)

const LOOKING_GIT = new Set(
  'log show diff status blame ls-files ls-tree grep rev-parse rev-list shortlog describe cat-file'.split(' '),
)

/**
 * Whether a command line is one that nobody would expect to change a file. That decides in which files it runs, not
 * whether it may change them: behind its fence it cannot.
 */
export function onlyLooks(parts: readonly CommandPart[] | null | undefined): boolean {
  return parts !== null && parts !== undefined && parts.length > 0 && parts.every(looks)
}

function looks(part: CommandPart): boolean {
  if (part.kind === 'write') return part.path === '/dev/null'
  const [program, first] = part.words
  if (typeof program !== 'string' || part.hides || part.spelled.length > 0) return false
  const name = baseName(program)
  return LOOKING.has(name) || (name === 'git' && typeof first === 'string' && LOOKING_GIT.has(first))
}
