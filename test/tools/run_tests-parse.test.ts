import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseTestOutput } from '../../src/tools/tests/parse.js'
import { SAMPLES } from './samples/outputs.js'

/** What a runner really prints, stdout and stderr together. */
async function output(files: Record<string, string>, command: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'retinue-runner-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', CI: '1' }
  return new Promise((done) =>
    execFile('sh', ['-c', `${command} 2>&1`], { cwd: folder, env }, (_, stdout) => done(stdout)),
  )
}

const there = async (command: string) => (await output({}, `${command} >/dev/null && echo yes`)).includes('yes')

const NODE = `const test = require('node:test'), assert = require('node:assert')
test('keeps', () => {})
test('adds', () => assert.equal(2, 3))
test('waits', {skip: true}, () => {})
test('dreams', {todo: true}, () => {})
test.describe('sums', () => { test('inside', () => { throw new Error('inner') }) })
`

describe('what runners really print', () => {
  it('node --test, as text and as TAP', async () => {
    for (const reporter of ['spec', 'tap']) {
      const text = await output({ 'a.test.js': NODE }, `node --test --test-reporter=${reporter}`)
      const summary = parseTestOutput(text)
      expect([reporter, summary]).toEqual([
        reporter,
        {
          format: 'node',
          passed: expect.any(Number),
          failed: 2,
          skipped: expect.any(Number),
          failures: expect.arrayContaining([
            expect.objectContaining({ name: 'adds' }),
            expect.objectContaining({ name: 'inside' }),
          ]),
        },
      ])
      expect(summary?.passed).toBe(1)
      expect(summary?.skipped).toBe(2)
      expect(JSON.stringify(summary?.failures)).toContain('inner')
    }
  })

  it('vitest', async () => {
    const bin = resolve('node_modules/vitest/vitest.mjs')
    const files = {
      'a.test.ts': `import { describe, expect, it } from '${resolve('node_modules/vitest/dist/index.js')}'
it('keeps', () => {})
describe('sums', () => it('adds', () => expect(2).toBe(3)))
it.skip('waits', () => {})
it.todo('dreams')
`,
      'b.test.ts': `import './missing.js'`,
    }
    const summary = parseTestOutput(await output(files, `node ${bin} run --root .`))
    expect(summary).toEqual({
      format: 'vitest',
      passed: 1,
      failed: 1,
      skipped: 2,
      failures: expect.arrayContaining([
        {
          name: 'a.test.ts > sums > adds',
          detail: expect.arrayContaining([expect.stringContaining('expected 2 to be 3')]),
        },
      ]),
    })
  })

  it('unittest', async (context) => {
    if (!(await there('python3 --version'))) return context.skip('python3 is not here')
    const text = `import unittest
class Sums(unittest.TestCase):
    def test_keeps(self): pass
    def test_adds(self): self.assertEqual(2, 3)
    def test_breaks(self): raise ValueError('broken')
    @unittest.skip('later')
    def test_waits(self): pass
`
    expect(parseTestOutput(await output({ 'test_a.py': text }, 'python3 -m unittest'))).toEqual({
      format: 'unittest',
      passed: 1,
      failed: 2,
      skipped: 1,
      failures: [
        { name: expect.stringContaining('test_breaks'), detail: expect.arrayContaining(['ValueError: broken']) },
        { name: expect.stringContaining('test_adds'), detail: expect.arrayContaining(['AssertionError: 2 != 3']) },
      ],
    })
    const good = text.replace('self.assertEqual(2, 3)', 'pass').replace("raise ValueError('broken')", 'pass')
    expect(parseTestOutput(await output({ 'test_a.py': good }, 'python3 -m unittest'))).toEqual({
      format: 'unittest',
      passed: 3,
      failed: 0,
      skipped: 1,
      failures: [],
    })
  })

  it('pytest', async (context) => {
    if (!(await there('python3 -m pytest --version'))) return context.skip('pytest is not here')
    const text = `import pytest
def test_keeps(): pass
def test_adds(): assert 1 + 1 == 3
@pytest.mark.skip
def test_waits(): pass
@pytest.mark.xfail
def test_known(): assert False
@pytest.fixture
def thing(): raise ValueError('broken')
def test_breaks(thing): pass
`
    for (const options of ['', ' -q']) {
      const told = parseTestOutput(
        await output({ 'test_a.py': text }, `python3 -m pytest -p no:cacheprovider${options}`),
      )
      expect([options, told]).toEqual([
        options,
        {
          format: 'pytest',
          passed: 1,
          failed: 2,
          skipped: 2,
          failures: [
            { name: 'test_a.py::test_adds', detail: [expect.any(String), 'E   assert (1 + 1) == 3'] },
            { name: 'test_a.py::test_breaks', detail: [expect.any(String), 'E   ValueError: broken'] },
          ],
        },
      ])
    }
    expect(parseTestOutput(await output({}, 'python3 -m pytest -p no:cacheprovider'))).toMatchObject({
      passed: 0,
      failed: 0,
    })
  })

  it('cargo test', async (context) => {
    if (!(await there('cargo --version'))) return context.skip('cargo is not here')
    const files = {
      'Cargo.toml': '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n',
      'lib.rs': `#[test] fn keeps() {}\n#[test] fn adds() { assert_eq!(2, 3) }\n#[test] #[ignore] fn waits() {}\n`,
    }
    const text = await output(files, 'cargo test --offline')
    if (!text.includes('test result')) return context.skip('cargo cannot build here')
    expect(parseTestOutput(text)).toEqual({
      format: 'cargo',
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [{ name: 'adds', detail: expect.arrayContaining([expect.stringContaining('panicked at')]) }],
    })
  }, 120_000)
})

describe('what runners are known to print', () => {
  it.each(SAMPLES.map((sample): [string, (typeof SAMPLES)[number]] => [sample.name, sample]))(
    '%s',
    (_, { output, summary }) => {
      expect(parseTestOutput(output)).toEqual(summary)
      const coloured = output.split('\n').map((line) => `\u001b[31m${line}\u001b[0m`)
      expect(parseTestOutput(coloured.join('\r\n'))).toEqual(summary)
    },
  )

  it('makes nothing of other text', () => {
    for (const text of [
      '',
      'hello',
      '3 passed',
      'Tests: many',
      'OK',
      'FAIL',
      '1..',
      'ok',
      'Ran out of tests',
      'x'.repeat(1e6),
    ]) {
      expect([text.slice(0, 20), parseTestOutput(text)]).toEqual([text.slice(0, 20), null])
    }
  })
})
