import { estimateTokenCount } from 'tokenx'
import { describe, expect, it } from 'vitest'
import { DELEGATION_TOOLS } from '../../src/domain/index.js'
import { builtinTools, createToolRegistry, DEFAULT_LIMITS } from '../../src/tools/index.js'
import { allTools } from './workbench.js'

const registry = createToolRegistry(builtinTools())

describe('the tool registry', () => {
  it('offers the tools that ship, in one order', () => {
    expect(registry.names()).toEqual([
      'overview',
      'read_file',
      'write_file',
      'edit_file',
      'list_dir',
      'find_files',
      'search_files',
      'run_command',
      'run_tests',
      'git_status',
      'git_diff',
      'git_log',
      'git_commit',
      'web_fetch',
      'ask_user',
      'read_output',
      'spawn',
      'spawn_await',
      'spawn_agent',
      'delegate_task',
    ])
    const more = allTools().map(({ name }) => name)
    expect(more.filter((name) => !registry.names().includes(name))).toEqual(['web_search', 'load_skill'])
  })

  it('says which tools change the world and which may be repeated', () => {
    const effects = allTools().map((tool) => [tool.name, tool.effect, tool.repeatable, tool.recover !== undefined])
    expect(effects.filter(([, effect, repeatable]) => effect !== 'read' || repeatable !== true)).toEqual([
      ['write_file', 'write', false, true],
      ['edit_file', 'write', false, true],
      ['run_command', 'execute', false, false],
      ['run_tests', 'execute', false, false],
      ['git_commit', 'write', false, true],
      ['web_fetch', 'fetch', true, false],
      ['web_search', 'fetch', true, false],
      ['ask_user', 'ask_person', true, false],
      ['spawn', 'delegate', true, false],
      ['spawn_await', 'delegate', true, false],
      ['spawn_agent', 'delegate', true, false],
      ['delegate_task', 'delegate', true, false],
    ])
  })

  it('tells a model a name, a description with the real limits and a closed JSON schema', () => {
    const limits = { ...DEFAULT_LIMITS, command_timeout_ms: 7000, command_max_timeout_ms: 8500 }
    expect(registry.definitions(['run_command'], limits)).toEqual([
      {
        name: 'run_command',
        description:
          'Runs a shell command and returns its exit code and output. In the sandbox only the workspace can be written ' +
          'and there is no network unless it is allowed. There is no terminal and no input; API keys are not in the ' +
          'environment; processes left in the background are ended when the command ends. ' +
          'Timeout 7 s, at most 8.5 s.',
        parameters: {
          type: 'object',
          properties: {
            command: { type: 'string', pattern: '\\S' },
            timeout_ms: { type: 'integer', minimum: 1000 },
            cwd: { type: 'string', description: 'folder to run in, relative to the workspace' },
          },
          required: ['command'],
          additionalProperties: false,
        },
      },
    ])
  })

  it('gives the same bytes for the same tools, whatever order they are named in, and leaves out what it lacks', () => {
    const one = JSON.stringify(registry.definitions(['git_log', 'read_file', 'teleport'], DEFAULT_LIMITS))
    const other = JSON.stringify(registry.definitions(['read_file', 'git_log', 'read_file'], DEFAULT_LIMITS))
    expect(one).toBe(other)
    expect(registry.get('teleport')).toBe(null)
    expect(registry.get('constructor')).toBe(null)
  })

  it('refuses two tools of one name', () => {
    expect(() => createToolRegistry([...builtinTools(), ...builtinTools()])).toThrow('two tools have the same name')
  })

  it('costs a model less than 2,000 tokens a request, and less than 700 more where it may delegate', () => {
    const every = createToolRegistry(allTools())
    const cost = (names: string[]) => estimateTokenCount(JSON.stringify(every.definitions(names, DEFAULT_LIMITS)))
    const delegating = every.names().filter((name) => DELEGATION_TOOLS.includes(name))
    expect(delegating).toEqual(['spawn', 'spawn_await', 'spawn_agent', 'delegate_task'])
    expect(cost(every.names().filter((name) => !delegating.includes(name)))).toBeLessThan(2000)
    expect(cost(delegating)).toBeLessThan(700)
  })
})
