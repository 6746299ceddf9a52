import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { builtinTools, defineTool, readArguments, type Tool, type ToolSpec } from '../../src/tools/index.js'

function tool(name: string): Tool {
  const found = builtinTools().find((candidate) => candidate.name === name)
  if (!found) throw new Error(`no tool ${name}`)
  return found
}

const read = (name: string, args: unknown) => readArguments(tool(name), JSON.stringify(args))
const taken = (args: object, ...mended: string[]) => ({ ok: true, args, mended })
const refused = (...lines: string[]) => ({ ok: false, message: lines.join('\n') })

const READ_FILE = 'Expected: read_file(path: string, offset?: integer, limit?: integer)'

const bare: Omit<ToolSpec<z.ZodObject>, 'parameters'> = {
  name: 'plan',
  effect: 'read',
  repeatable: true,
  description: () => '',
  plan: async () => ({ ok: false, message: '' }),
  execute: async () => ({ ok: false, content: '' }),
}
const planTool = defineTool({
  ...bare,
  parameters: z.strictObject({
    steps: z.array(z.strictObject({ task: z.string(), after: z.array(z.int()).optional() })).min(1),
    mode: z.enum(['plan', 'auto']).optional(),
    note: z.string().nullable().optional(),
  }),
})
const PLAN = 'Expected: plan(steps: {task: string, after?: integer[]}[], mode?: "plan" | "auto", note?: string | null)'

describe('arguments that are right', () => {
  it('are taken as they are, in the order they were written', () => {
    const result = readArguments(tool('read_file'), '{"limit": 3, "path": "a.ts"}')
    expect(result).toEqual(taken({ limit: 3, path: 'a.ts' }))
    expect(JSON.stringify(result.ok && result.args)).toBe('{"limit":3,"path":"a.ts"}')
  })

  it('may be nothing at all', () => {
    expect(readArguments(tool('git_status'), '')).toEqual(taken({}))
    expect(readArguments(tool('git_status'), ' \n')).toEqual(taken({}))
  })
})

describe('slips in the text are mended and named', () => {
  it('code fence', () => {
    expect(readArguments(tool('read_file'), '```json\n{"path":"a"}\n```')).toEqual(
      taken({ path: 'a' }, 'code fence removed'),
    )
  })

  it('trailing commas, but not commas in strings', () => {
    expect(readArguments(tool('git_commit'), '{"message":"a,]\\",}","paths":["x", ], }')).toEqual(
      taken({ message: 'a,]",}', paths: ['x'] }, 'trailing comma removed'),
    )
  })

  it('line breaks in strings', () => {
    expect(readArguments(tool('write_file'), '{"path":"a",\n"content":"one\n\ttwo"}')).toEqual(
      taken({ path: 'a', content: 'one\n\ttwo' }, 'line breaks and tabs in a string escaped'),
    )
  })

  it('JSON in a JSON string', () => {
    expect(readArguments(tool('read_file'), JSON.stringify('{"path":"a",}'))).toEqual(
      taken({ path: 'a' }, 'JSON inside a string read as JSON', 'trailing comma removed'),
    )
  })

  it('null for no arguments', () => {
    expect(readArguments(tool('git_status'), 'null')).toEqual(taken({}, 'null read as no arguments'))
  })
})

describe('slips in the values are mended and named', () => {
  it('numbers and booleans as text', () => {
    expect(read('read_file', { path: 'a', offset: '12', limit: ' 3 ' })).toEqual(
      taken({ path: 'a', offset: 12, limit: 3 }, 'offset: "12" read as 12', 'limit: " 3 " read as 3'),
    )
    expect(read('git_diff', { staged: 'True' })).toEqual(taken({ staged: true }, 'staged: "True" read as true'))
    expect(read('write_file', { path: 'a', content: 5 })).toEqual(
      taken({ path: 'a', content: '5' }, 'content: 5 read as "5"'),
    )
  })

  it('lists as one text, with commas, lines, JSON or Python inside', () => {
    const paths = (text: unknown) => read('git_diff', { paths: text })
    expect(paths('a.ts, b.ts')).toEqual(taken({ paths: ['a.ts', 'b.ts'] }, 'paths: "a.ts, b.ts" read as a list'))
    expect(paths('a, b.ts\nc.ts\n')).toEqual(
      taken({ paths: ['a, b.ts', 'c.ts'] }, 'paths: "a, b.ts\\nc.ts\\n" read as a list'),
    )
    expect(paths('["a,b"]')).toEqual(taken({ paths: ['a,b'] }, 'paths: "[\\"a,b\\"]" read as a list'))
    expect(paths("['a', 'b']")).toEqual(taken({ paths: ['a', 'b'] }, `paths: "['a', 'b']" read as a list`))
    expect(paths('[id].ts')).toEqual(taken({ paths: ['[id].ts'] }, 'paths: "[id].ts" read as a list'))
    expect(paths(7)).toEqual(taken({ paths: ['7'] }, 'paths: 7 read as a list', 'paths[0]: 7 read as "7"'))
  })

  it('null and empty text for what is optional', () => {
    expect(read('read_file', { path: 'a', offset: null, limit: '' })).toEqual(
      taken({ path: 'a' }, 'offset: null dropped', 'limit: "" dropped'),
    )
    expect(read('search_files', { pattern: 'x', path: '', context: null })).toEqual(
      taken({ pattern: 'x', path: '' }, 'context: null dropped'),
    )
  })

  it('names that others have for an argument', () => {
    expect(read('edit_file', { filePath: 'a', old_string: 'x', newString: 'y', replaceAll: 'true' })).toEqual(
      taken(
        { path: 'a', old_text: 'x', new_text: 'y', replace_all: true },
        'filePath taken as path',
        'old_string taken as old_text',
        'newString taken as new_text',
        'replaceAll taken as replace_all',
        'replace_all: "true" read as true',
      ),
    )
    expect(read('run_command', { cmd: 'ls', workdir: 'src' })).toEqual(
      taken({ command: 'ls', cwd: 'src' }, 'cmd taken as command', 'workdir taken as cwd'),
    )
    expect(read('search_files', { regex: 'x', dir: 'src', '-i': true, '-C': 2 })).toEqual(
      taken(
        { pattern: 'x', path: 'src', ignore_case: true, context: 2 },
        'regex taken as pattern',
        'dir taken as path',
        '-i taken as ignore_case',
        '-C taken as context',
      ),
    )
  })

  it('but never put one in the place of an argument that is there', () => {
    expect(read('read_file', { file_path: 'b', path: 'a' })).toEqual(
      taken({ path: 'a' }, '"file_path" is no argument: dropped'),
    )
  })

  it('arguments that do not exist', () => {
    expect(readArguments(tool('read_file'), '{"path":"a","__proto__":{"x":1},"constructor":2}')).toEqual(
      taken({ path: 'a' }, '"__proto__" is no argument: dropped', '"constructor" is no argument: dropped'),
    )
  })

  it('arguments that do not exist, also where the schema would pass them over in silence', () => {
    const lenient = defineTool({ ...bare, parameters: z.object({ mode: z.string() }) })
    expect(readArguments(lenient, '{"mode":"x","y":1}')).toEqual(taken({ mode: 'x' }, '"y" is no argument: dropped'))
  })

  it('but keep them where the schema is open', () => {
    const open = defineTool({ ...bare, parameters: z.looseObject({ n: z.int() }) })
    expect(readArguments(open, '{"n":"1","y":1}')).toEqual(taken({ n: 1, y: 1 }, 'n: "1" read as 1'))
  })

  it('inside lists of objects too', () => {
    const raw = JSON.stringify({ steps: JSON.stringify([{ task: 't', after: '1,2', x: 1 }]), note: null })
    expect(readArguments(planTool, raw)).toEqual(
      taken(
        { steps: [{ task: 't', after: [1, 2] }], note: null },
        'steps: "[{\\"task\\":\\"t\\",\\"after\\":\\"1,2\\",\\"x\\":1}]" read as a list',
        'steps[0]."x" is no argument: dropped',
        'steps[0].after: "1,2" read as a list',
        'steps[0].after[0]: "1" read as 1',
        'steps[0].after[1]: "2" read as 2',
      ),
    )
    expect(readArguments(planTool, '{"steps":"{\\"task\\":\\"t\\"}"}')).toEqual(
      taken({ steps: [{ task: 't' }] }, 'steps: "{\\"task\\":\\"t\\"}" read as a list'),
    )
  })
})

describe('what cannot be mended is refused, line by line, with the signature', () => {
  it('values', () => {
    expect(read('read_file', { offset: 'abc', limit: 0 })).toEqual(
      refused('path is missing', 'offset: expected number, got "abc"', 'limit: must be at least 1, got 0', READ_FILE),
    )
    expect(read('read_file', { path: ['a'], offset: 1.5 })).toEqual(
      refused('path: expected string, got a list', 'offset: expected integer, got 1.5', READ_FILE),
    )
    expect(read('read_file', { path: null, limit: {} })).toEqual(
      refused('path: expected string, got null', 'limit: expected number, got an object', READ_FILE),
    )
    expect(read('read_file', { path: '' })).toEqual(refused('path: must not be empty, got ""', READ_FILE))
    expect(readArguments(planTool, '{"steps":[{"task":1.5},{}],"mode":"wild"}')).toEqual(
      refused(
        'steps[0].task: expected string, got 1.5',
        'steps[1].task is missing',
        'mode: expected one of "plan", "auto", got "wild"',
        PLAN,
      ),
    )
  })

  it('a missing argument under another name', () => {
    expect(read('read_file', { pth: 'a' })).toEqual(refused('path is missing: did you mean path by "pth"?', READ_FILE))
    expect(read('read_file', { pth: 'a', zzz: 1 })).toEqual(
      refused('path is missing: did you mean path by "pth"?', READ_FILE),
    )
    expect(read('read_file', { where: 'a' })).toEqual(
      refused('path is missing: did you mean path by "where"?', READ_FILE),
    )
    expect(read('read_file', { where: 'a', zzz: 1 })).toEqual(refused('path is missing', READ_FILE))
  })

  it('text that is no JSON object', () => {
    expect(readArguments(tool('read_file'), '[1]')).toEqual(
      refused('the arguments must be one JSON object, not a list', READ_FILE),
    )
    expect(readArguments(tool('read_file'), '"a.ts"')).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^the arguments are not JSON: .*\nExpected: read_file\(/),
    })
    expect(readArguments(tool('read_file'), '{"path": "a')).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^the arguments are not JSON: Unterminated string .*\nExpected: read_file\(/),
    })
  })
})

describe('any text whatever', () => {
  const tools = [...builtinTools(), planTool]
  const someTool = fc.constantFrom(...tools)

  function isSound(subject: Tool, raw: string): void {
    const result = readArguments(subject, raw)
    if (result.ok) expect(subject.reader().problemsOf(result.args)).toEqual([])
    else expect(result.message).toContain(`Expected: ${subject.name}(`)
  }

  it('gives valid arguments or a message', () => {
    fc.assert(fc.property(someTool, fc.string(), isSound), { numRuns: 200 })
    fc.assert(fc.property(someTool, fc.json(), isSound), { numRuns: 200 })
    const pieces = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '\n', 'path', '1', 'null', '```', ' ')
    fc.assert(
      fc.property(
        someTool,
        fc.array(pieces).map((all) => all.join('')),
        isSound,
      ),
      { numRuns: 200 },
    )
  })

  it('also with the right names and any values', () => {
    const anyCall = someTool.chain((subject) => {
      const names = fc.constantFrom(
        ...Object.keys(subject.reader().schema.properties ?? {}),
        '__proto__',
        'file_path',
        'toString',
      )
      return fc.tuple(fc.constant(subject), fc.dictionary(names, fc.jsonValue()))
    })
    fc.assert(
      fc.property(anyCall, ([subject, args]) => isSound(subject, JSON.stringify(args))),
      { numRuns: 300 },
    )
  })

  it('and says what it did: valid arguments that were not as written are always named', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('path', 'offset', 'limit', 'x'), fc.jsonValue()), (args) => {
        const result = read('read_file', args)
        if (result.ok && result.mended.length === 0) expect(result.args).toEqual(JSON.parse(JSON.stringify(args)))
      }),
      { numRuns: 300 },
    )
  })

  it('in time that grows with the text, not with its square', () => {
    const started = performance.now()
    const deep = `{"path":${'['.repeat(200_000)}`
    for (const raw of [
      deep,
      deep + ']'.repeat(200_000),
      `{"a":${'"\\"'.repeat(200_000)}`,
      `{"a":${', '.repeat(200_000)}`,
    ]) {
      isSound(tool('read_file'), raw)
    }
    isSound(tool('git_diff'), JSON.stringify({ paths: `${'['.repeat(100_000)}'${' '.repeat(100_000)}` }))
    isSound(tool('read_file'), JSON.stringify({ path: 'a', offset: `${' '.repeat(100_000)}x` }))
    isSound(tool('read_file'), JSON.stringify({ path: 'a', offset: `${'1'.repeat(100_000)}x` }))
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})
