import { describe, expect, it } from 'vitest'
import { ALIASES, resolveToolName } from '../../src/tools/index.js'
import { allTools } from './workbench.js'

const resolved = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, resolveToolName(name)]))

describe('tool names of others', () => {
  it('knows those of Claude Code', () => {
    expect(
      resolved(
        'Read Write Edit MultiEdit Glob Grep LS Bash AskUserQuestion WebFetch WebSearch Skill Task Agent TaskOutput',
      ),
    ).toEqual({
      Read: 'read_file',
      Write: 'write_file',
      Edit: 'edit_file',
      MultiEdit: 'edit_file',
      Glob: 'find_files',
      Grep: 'search_files',
      LS: 'list_dir',
      Bash: 'run_command',
      AskUserQuestion: 'ask_user',
      WebFetch: 'web_fetch',
      WebSearch: 'web_search',
      Skill: 'load_skill',
      Task: 'spawn_agent',
      Agent: 'spawn_agent',
      TaskOutput: 'spawn_await',
    })
  })

  it('knows those of the seeds', () => {
    expect(
      resolved('read write edit ls grep search code_search shell test git git_commit git_diff list_files overview'),
    ).toEqual({
      read: 'read_file',
      write: 'write_file',
      edit: 'edit_file',
      ls: 'list_dir',
      grep: 'search_files',
      search: 'search_files',
      code_search: 'search_files',
      shell: 'run_command',
      test: 'run_tests',
      git: 'git_status',
      git_commit: 'git_commit',
      git_diff: 'git_diff',
      list_files: 'list_dir',
      overview: 'overview',
    })
    expect(resolved('web_search web_fetch spawn spawn_await spawn_agent delegate_task')).toEqual({
      web_search: 'web_search',
      web_fetch: 'web_fetch',
      spawn: 'spawn',
      spawn_await: 'spawn_await',
      spawn_agent: 'spawn_agent',
      delegate_task: 'delegate_task',
    })
  })

  it('knows those of opencode, Gemini CLI and Codex', () => {
    expect(
      resolved(
        'list question replace run_shell_command search_file_content list_directory glob exec_command grep_files ' +
          'webfetch google_web_search skill task wait apply_patch',
      ),
    ).toEqual({
      list: 'list_dir',
      question: 'ask_user',
      replace: 'edit_file',
      run_shell_command: 'run_command',
      search_file_content: 'search_files',
      list_directory: 'list_dir',
      glob: 'find_files',
      exec_command: 'run_command',
      grep_files: 'search_files',
      webfetch: 'web_fetch',
      google_web_search: 'web_search',
      skill: 'load_skill',
      task: 'spawn_agent',
      wait: 'spawn_await',
      apply_patch: null,
    })
  })

  it('takes a name as it is before it takes it for something else, and never leaves what is known', () => {
    expect(resolveToolName('READ_FILE')).toBe('read_file')
    expect(resolveToolName('readFile')).toBe('read_file')
    expect(resolveToolName('search', ['search', 'search_files'])).toBe('search')
    expect(resolveToolName('Search', ['search', 'Search'])).toBe('Search')
    expect(resolveToolName('bash', ['read_file'])).toBe(null)
    expect(resolveToolName('constructor')).toBe(null)
    expect(resolveToolName('')).toBe(null)
  })
})

describe('the table', () => {
  const tools = new Map(allTools().map((tool) => [tool.name, tool]))
  const plain = (name: string) => name.replaceAll('_', '')

  it('speaks of every tool that ships, of their real arguments, and of nothing else', () => {
    expect(Object.keys(ALIASES)).toEqual([...tools.keys()])
    for (const [name, aliases] of Object.entries(ALIASES)) {
      const real = Object.keys(tools.get(name)?.reader().schema.properties ?? {})
      expect(Object.keys(aliases.arguments).filter((argument) => !real.includes(argument))).toEqual([])
    }
  })

  it('maps every name once, and no name of ours onto another', () => {
    const names = Object.values(ALIASES).flatMap((aliases) => aliases.names.map(plain))
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
    expect(names.filter((name) => [...tools.keys()].map(plain).includes(name))).toEqual([])
    for (const aliases of Object.values(ALIASES)) {
      const given = Object.values(aliases.arguments).flat().map(plain)
      expect(given.filter((name, i) => given.indexOf(name) !== i)).toEqual([])
    }
  })
})
