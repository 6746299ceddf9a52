import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { discoverSkills } from '../../src/control/index.js'
import { createHost } from '../../src/host/index.js'
import { toolNamed, workbench } from './workbench.js'

const HEAD = '---\nname: NAME\ndescription: About it.\n---\n\n'
const skill = (name: string, body = 'Do it.') => HEAD.replace('NAME', name) + body

/** A project in `project`, with a home beside it, and the tool as they make it. */
async function bench(files: Record<string, string>) {
  const outer = await workbench(files)
  const host = createHost()
  const project_dir = join(outer.root, 'project')
  await mkdir(project_dir, { recursive: true })
  const home = join(outer.root, 'home')
  const { skills } = await discoverSkills(host, { project_dir, home, config_home: join(home, '.config') })
  const tool = toolNamed('load_skill', { skills })
  const context = { ...outer.context, workspace: await host.workspace(project_dir) }
  const call = async (args: object) => {
    const planned = await tool.plan({ ...args }, context)
    return planned.ok ? tool.execute({ ...args }, context, planned.plan) : { refused: planned.message }
  }
  return { ...outer, call, plan: (args: object) => tool.plan({ ...args }, context) }
}

describe('load_skill', () => {
  it('gives the text of a skill without its header', async () => {
    const { call } = await bench({ 'home/.claude/skills/x/SKILL.md': skill('x', '# How\n\nDo it.\n') })
    expect(await call({ name: 'x' })).toEqual({ ok: true, content: '# Skill x\n\n# How\n\nDo it.' })
  })

  it('plans the name of the skill, for the contract to judge', async () => {
    const { plan } = await bench({ 'home/.claude/skills/x/SKILL.md': skill('x') })
    expect(await plan({ name: 'x' })).toEqual({
      ok: true,
      plan: { summary: 'load the skill x', paths: [], skill: 'x' },
    })
    expect(await plan({ name: 'xx' })).toEqual({ ok: false, message: 'name: there is no skill "xx"; skills: x' })
    expect(await plan({ name: 'constructor' })).toMatchObject({ ok: false })
  })

  it('names the files of a skill of the project as read_file takes them, also where they are ignored', async () => {
    const at = 'project/.claude/skills/x'
    const { call } = await bench({
      'project/.gitignore': '.claude\n',
      [`${at}/SKILL.md`]: skill('x'),
      [`${at}/reference.md`]: '',
      [`${at}/scripts/run.sh`]: '',
    })
    const content = [
      '# Skill x\n\nDo it.\n',
      'Files of the skill (read them with read_file):',
      '.claude/skills/x/reference.md',
      '.claude/skills/x/scripts/run.sh',
    ].join('\n')
    expect(await call({ name: 'x' })).toEqual({ ok: true, content })
    expect(await call({ name: 'x', file: 'reference.md' })).toEqual({
      ok: false,
      content: 'reference.md is in the workspace: use read_file with .claude/skills/x/reference.md',
    })
  })

  it('reads the files of a skill that is elsewhere, and nothing outside it', async () => {
    const at = 'home/.agents/skills/x'
    const { call, root } = await bench({
      [`${at}/SKILL.md`]: skill('x'),
      [`${at}/docs/more.md`]: 'More.\n',
      [`${at}-sibling/secret`]: 'canary',
      'home/.ssh/id': 'canary',
    })
    await symlink(join(root, 'home/.ssh/id'), join(root, at, 'link'))
    expect(await call({ name: 'x' })).toEqual({
      ok: true,
      content:
        '# Skill x\n\nDo it.\n\nFiles of the skill (read them with load_skill {"name":"x","file":"docs/more.md"}):\ndocs/more.md',
    })
    expect(await call({ name: 'x', file: './docs/../docs/more.md' })).toEqual({ ok: true, content: 'More.' })
    const outside = [
      '../x-sibling/secret',
      join(root, 'home/.ssh/id'),
      'link',
      '../../../.ssh/id',
      'docs/../../x-sibling/secret',
      '\0',
    ]
    for (const file of outside) {
      expect([file, await call({ name: 'x', file })]).toEqual([
        file,
        { ok: false, content: 'file: it is no file of the skill x' },
      ])
    }
    expect(await call({ name: 'x', file: 'none' })).toMatchObject({ ok: false })
    expect(await call({ name: 'x', file: 'docs' })).toMatchObject({ ok: false })
  })

  it('is not led elsewhere by a folder that became a link meanwhile', async () => {
    const at = 'project/.claude/skills/x'
    const { call, root } = await bench({ [`${at}/SKILL.md`]: skill('x'), 'secret/SKILL.md': 'canary' })
    await rename(join(root, at), join(root, 'moved'))
    await symlink(join(root, 'secret'), join(root, at))
    expect(JSON.stringify(await call({ name: 'x' }))).not.toContain('canary')
  })

  it('cuts what is long and says how to read on', async () => {
    const { call, root } = await bench({ 'home/.claude/skills/x/SKILL.md': skill('x', 'line\n'.repeat(10_000)) })
    for (let i = 0; i < 150; i++) await writeFile(join(root, `home/.claude/skills/x/f${i}`), '')
    const { content } = (await call({ name: 'x' })) as { content: string }
    expect(content).toContain('[cut here; all of it: load_skill {"name":"x","file":"SKILL.md"}]')
    expect([content.length < 30_000, content.endsWith('[and more]')]).toEqual([true, true])
    expect(await call({ name: 'x', file: 'SKILL.md' })).toMatchObject({ ok: true })
  })

  it('looks into so many folders of a skill and no more', async () => {
    const folders = Array.from({ length: 80 }, (_, i) => [`home/.claude/skills/x/d${i}/f`, ''])
    const { call } = await bench({ 'home/.claude/skills/x/SKILL.md': skill('x'), ...Object.fromEntries(folders) })
    const { content } = (await call({ name: 'x' })) as { content: string }
    expect([content.split('\n').filter((line) => line.endsWith('/f')).length, content.endsWith('[and more]')]).toEqual([
      49,
      true,
    ])
  })

  it('is not there when there are no skills', () => {
    expect(() => toolNamed('load_skill', { skills: [] })).toThrow('no tool load_skill')
  })
})
