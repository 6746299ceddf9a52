import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesGlob, mayOverlap, outsideOf } from '../../src/domain/index.js'
import '../support/seed.ts'

/** Every text of so many characters at most: paths, and some that no file has. */
function textsOf(alphabet: string, most: number): string[] {
  let longest = ['']
  const all = [...longest]
  for (let length = 1; length <= most; length++) {
    longest = longest.flatMap((text) => [...alphabet].map((char) => text + char))
    all.push(...longest)
  }
  return all
}

const TEXTS = textsOf('ab/', 7)
const matched = new Map<string, Set<string>>()

function textsMatched(glob: string): Set<string> {
  const known = matched.get(glob) ?? new Set(TEXTS.filter((text) => matchesGlob(glob, text)))
  matched.set(glob, known)
  return known
}

const glob = fc
  .array(fc.constantFrom('a', 'b', '/', '*', '?', '**', '**/', '{a,b}', '{a/,}'), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(''))

describe('whether what two own may overlap', () => {
  it('is what trying every path would say', { timeout: 120_000 }, () => {
    let meeting = 0
    let apart = 0
    fc.assert(
      fc.property(glob, glob, (one, other) => {
        const tried = [...textsMatched(one)].some((text) => textsMatched(other).has(text))
        if (tried) meeting++
        else apart++
        expect(mayOverlap([one], [other])).toBe(tried)
        expect(mayOverlap([other], [one])).toBe(tried)
      }),
      { numRuns: 1500 },
    )
    // A generator that makes one kind of pair alone would show nothing.
    expect(meeting).toBeGreaterThan(50)
    expect(apart).toBeGreaterThan(50)
  })

  it.each([
    ['src', 'src'],
    ['src', 'src/deep/file.ts'],
    ['src/**', 'src'],
    ['.', 'anything/at/all'],
    ['**/*.test.ts', 'src/domain'],
    ['src/*.ts', 'src/a*'],
    ['docs/{a,b}.md', 'docs/?.md'],
    ['**/index.ts', 'index.ts'],
    ['./src', 'src/a'],
  ])('says yes for %s and %s', (one, other) => {
    expect(mayOverlap([one], [other])).toBe(true)
  })

  it.each([
    ['src', 'docs'],
    ['src', 'src2'],
    ['src/a', 'src/b'],
    ['src/*.ts', 'src/*.md'],
    ['src/*/a', 'src/b/c'],
    ['docs/{a,b}.md', 'docs/{c,d}.md'],
    ['a/?', 'a/bb'],
  ])('says no for %s and %s', (one, other) => {
    expect(mayOverlap([one], [other])).toBe(false)
  })

  it('knows that a folder may be called what files are called', () => {
    // `x.ts` may be a folder, and what is below it is matched with it.
    expect(mayOverlap(['**/*.ts'], ['**/*.md'])).toBe(true)
    expect(mayOverlap(['*.ts'], ['*.md'])).toBe(false)
  })

  it('looks at every glob of both, and an empty list overlaps with nothing', () => {
    expect(mayOverlap(['docs', 'src/a'], ['test', 'src'])).toBe(true)
    expect(mayOverlap(['docs', 'src/a'], ['test', 'src/b'])).toBe(false)
    expect(mayOverlap([], ['**'])).toBe(false)
    expect(mayOverlap(['**'], [])).toBe(false)
    expect(mayOverlap([], [])).toBe(false)
  })

  it('takes names for the same that are on some machine', () => {
    expect(mayOverlap(['SRC/Main.ts'], ['src/main.ts'])).toBe(true)
    expect(mayOverlap(['ΑΣ'], ['ας'])).toBe(true)
    expect(mayOverlap(['caf\u00e9'], ['cafe\u0301'])).toBe(true)
    // Each is one character, or two, as it is written.
    expect(mayOverlap(['\u0130'], ['?'])).toBe(true)
    expect(mayOverlap(['e\u0301'], ['e?'])).toBe(true)
    expect(mayOverlap(['caf\u00e9'], ['cafe'])).toBe(false)
  })

  it('has an end on patterns that were made to have none, and says yes where it stopped looking', () => {
    const stars = (times: number, end: string) => `${'*a'.repeat(times)}${end}`
    const many = (end: string) => Array.from({ length: 60 }, (_, n) => stars(200, `${n}${end}`))
    expect(mayOverlap(many('x'), many('y'))).toBe(true)
    // The same, small enough to be looked at to the end.
    expect(mayOverlap([stars(20, 'x')], [stars(20, 'y')])).toBe(false)
  })
})

describe('what lies outside of what an agent may write', () => {
  it('is what not every layer takes', () => {
    const layers = [['src', 'docs'], ['**/*.ts']]
    expect(outsideOf(layers, ['src/a.ts', 'src/a.md', 'test/a.ts', 'docs/b.ts'])).toEqual(['src/a.md', 'test/a.ts'])
    expect(outsideOf([['**']], ['src/a.ts', 'b'])).toEqual([])
    expect(outsideOf([['**'], []], ['src/a.ts'])).toEqual(['src/a.ts'])
  })

  it('is what belongs to git or Retinue, whoever owns it', () => {
    const own = ['.git/config', 'sub/.git', '.GIT/hooks/x', '.retinue/reports/a.md', 'retinue.yaml']
    expect(outsideOf([['**']], [...own, '.gitignore', '.gitattributes'])).toEqual(own)
  })
})
