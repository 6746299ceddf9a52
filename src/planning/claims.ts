import { mayOverlap, type StepState } from '../domain/index.js'

type Owned = readonly string[]

/** What one step owns, or several that own the same. `rivals`: who may write the same files, itself among them. */
export type Claim = { owns: Owned; rivals: Set<Claim> }

/**
 * The claims of steps, by their ids. One that owns nothing has none, nor has one that does not say what it owns. Only
 * globs of which one begins with the other's beginning are compared: a comparison costs more than all the rest.
 */
export function claimsOf(steps: readonly StepState[]): Map<string, Claim> {
  const claims = new Map<string, Claim>()
  const same = new Map<string, Claim>()
  const beginnings: { begins: string; claim: Claim }[] = []
  for (const { id, owns } of steps) {
    if (owns === null || owns.length === 0) continue
    const text = JSON.stringify(owns)
    let claim = same.get(text)
    if (!claim) {
      claim = { owns, rivals: new Set() }
      claim.rivals.add(claim)
      same.set(text, claim)
      for (const glob of owns) beginnings.push({ begins: beginningOf(glob), claim })
    }
    claims.set(id, claim)
  }
  // In this order, those that begin with a text follow it directly.
  beginnings.sort((a, b) => (a.begins < b.begins ? -1 : Number(a.begins > b.begins)))
  for (const [i, { begins, claim }] of beginnings.entries()) {
    for (let j = i + 1; beginnings[j]?.begins.startsWith(begins); j++) {
      const other = beginnings[j]?.claim as Claim
      if (claim.rivals.has(other) || !mayMeet(claim.owns, other.owns)) continue
      claim.rivals.add(other)
      other.rivals.add(claim)
    }
  }
  return claims
}

/**
 * What all paths that a glob matches begin with, as far as it is plain and means the same in any spelling. A path ends
 * with a slash here, since a glob matches what is below it too: `src/a` has nothing to do with `src/ab`.
 */
function beginningOf(glob: string): string {
  const path = glob.replace(/^\.\//, '')
  const [plain = ''] = path.split(/[*?{]|[^ -~]/, 1)
  const begins = plain.replace(/\/+$/, '').toLowerCase()
  if (begins === '' || begins === '.') return ''
  return plain === path || plain.endsWith('/') ? `${begins}/` : begins
}

/** Answers are kept as long as the lists are: a plan asks the same again at every turn. */
const ANSWERS = new WeakMap<Owned, WeakMap<Owned, boolean>>()

function mayMeet(a: Owned, b: Owned): boolean {
  const answers = ANSWERS.get(a) ?? new WeakMap<Owned, boolean>()
  const answer = answers.get(b) ?? mayOverlap(a, b)
  ANSWERS.set(a, answers.set(b, answer))
  return answer
}
