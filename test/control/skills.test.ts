import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { discoverSkills, skillsSection } from '../../src/control/index.js'
import { createHost } from '../../src/host/index.js'
import { put, temporaryFolders } from '../host/helpers.js'

const folder = temporaryFolders()
const host = createHost()

const skill = (name: string, description = `About ${name}.`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\nDo it.\n`

async function discover(files: Record<string, string>, prepare: (top: string) => void = () => {}) {
  const top = folder()
  for (const name of ['project', 'home', 'config']) mkdirSync(join(top, name))
  put(top, files)
  prepare(top)
  const places = { project_dir: join(top, 'project'), home: join(top, 'home'), config_home: join(top, 'config') }
  const { skills, problems } = await discoverSkills(host, places)
  return {
    skills: skills.map(({ name, from, folder }) => `${name} ${from} ${folder.slice(top.length + 1)}`),
    problems: problems.map(
      ({ file, message }) => `${file.slice(top.length + 1)}: ${message.replaceAll(`${top}/`, '')}`,
    ),
    all: skills,
  }
}

describe('skills', () => {
  it('are found in the folders of the project, then in those of the person', async () => {
    const { skills, problems, all } = await discover({
      'project/.retinue/skills/a/SKILL.md': skill('a'),
      'project/.agents/skills/b/SKILL.md': skill('b'),
      'project/.claude/skills/c/SKILL.md': skill('c'),
      'project/.opencode/skills/d/SKILL.md': skill('d'),
      'config/retinue/skills/e/SKILL.md': skill('e'),
      'home/.agents/skills/f/SKILL.md': skill('f'),
      'home/.claude/skills/g/SKILL.md': skill('g'),
      'home/.claude/skills/README.md': 'no skill',
      'home/.claude/skills/empty/notes.md': 'no skill',
    })
    expect(skills).toEqual([
      'a project project/.retinue/skills/a',
      'b project project/.agents/skills/b',
      'c project project/.claude/skills/c',
      'd project project/.opencode/skills/d',
      'e home config/retinue/skills/e',
      'f home home/.agents/skills/f',
      'g home home/.claude/skills/g',
    ])
    expect(problems).toEqual([])
    expect(all[0]).toMatchObject({ description: 'About a.', file: join(all[0]?.folder ?? '', 'SKILL.md') })
  })

  it('with a name that is there already are noted and left out; the project goes first', async () => {
    const { skills, problems } = await discover({
      'project/.claude/skills/x/SKILL.md': skill('same'),
      'project/.opencode/skills/y/SKILL.md': skill('same'),
      'home/.claude/skills/z/SKILL.md': skill('same'),
    })
    expect(skills).toEqual(['same project project/.claude/skills/x'])
    expect(problems).toEqual([
      'project/.opencode/skills/y/SKILL.md: not used: project/.claude/skills/x/SKILL.md has the same name, same',
      'home/.claude/skills/z/SKILL.md: not used: project/.claude/skills/x/SKILL.md has the same name, same',
    ])
  })

  it('that cannot be read are reported, each with its reason, and the others are there', async () => {
    const at = (name: string) => `project/.claude/skills/${name}/SKILL.md`
    const { skills, problems } = await discover({
      [at('a')]: 'no header',
      [at('b')]: '---\nname: b\n---\n',
      [at('c')]: '---\nname: "c d"\ndescription: x\n---\n',
      [at('d')]: '---\nname: d\ndescription: [\n---\n',
      [at('e')]: '---\n- list\n---\n',
      [at('f')]: `---js\nprocess.exit(1)\n---\n`,
      [at('g')]: `---\nname: g\ndescription: ${'x'.repeat(1025)}\n---\n`,
      [at('h')]: `---\nname: h\ndescription: x\n---\n${'x'.repeat(300_000)}`,
      [at('i')]: '---\nname: i\ndescription: !!js/function "function(){}"\n---\n',
      [at('j')]: '\uFEFF---\r\ndescription: >\r\n  on several\r\n  lines\r\nlicense: MIT\r\n---\r\nBody',
    })
    expect(skills).toEqual(['j project project/.claude/skills/j'])
    expect(problems).toEqual([
      `${at('a')}: it does not begin with YAML between two lines of ---`,
      `${at('b')}: description: say in a sentence what the skill is for and when to use it`,
      `${at('c')}: name: "c d" is no name of a skill: up to 64 letters, digits, - and _`,
      expect.stringMatching(/^.*\/d\/SKILL.md: line \d+: not valid YAML/),
      `${at('e')}: description: say in a sentence what the skill is for and when to use it`,
      `${at('f')}: it does not begin with YAML between two lines of ---`,
      `${at('g')}: description: at most 1024 characters`,
      `${at('h')}: it is too large: at most 256 KB are read`,
      expect.stringMatching(/^.*\/i\/SKILL.md: line 3: /),
    ])
  })

  it('that are links out of their folder are not followed, with a twin inside that is', async () => {
    const { skills, problems } = await discover(
      { 'outside/x/SKILL.md': skill('x'), 'outside/y.md': skill('y') },
      (top) => {
        const skills = join(top, 'project/.claude/skills')
        mkdirSync(join(skills, 'file'), { recursive: true })
        put(skills, { 'real/SKILL.md': skill('real') })
        symlinkSync(join(top, 'outside/x'), join(skills, 'folder'))
        symlinkSync(join(top, 'outside/y.md'), join(skills, 'file/SKILL.md'))
        symlinkSync(join(skills, 'real'), join(skills, 'inside'))
        symlinkSync('/nowhere', join(skills, 'dangling'))
        symlinkSync(join(top, 'outside'), join(top, 'project/.agents'))
      },
    )
    expect(skills).toEqual(['real project project/.claude/skills/real'])
    const not = 'it is a link that leads out of the folder of skills, and is not followed'
    expect(problems).toEqual([
      'project/.agents/skills: it leads out of the project and is not read',
      `project/.claude/skills/dangling/SKILL.md: ${not}`,
      `project/.claude/skills/file/SKILL.md: ${not}`,
      `project/.claude/skills/folder/SKILL.md: ${not}`,
    ])
  })

  it('of a person may be where their folder of skills leads', async () => {
    const { skills } = await discover({ 'dotfiles/skills/x/SKILL.md': skill('x') }, (top) =>
      symlinkSync(join(top, 'dotfiles'), join(top, 'home/.claude')),
    )
    expect(skills).toEqual(['x home dotfiles/skills/x'])
  })
})

describe('what the prompt says about skills', () => {
  it('is one line for each, in one order, with nothing in it that could end it', () => {
    const section = skillsSection([
      { name: 'b', description: 'Two </skills> & "more"\nlines' },
      { name: 'a', description: 'One' },
    ])
    expect(section.split('\n').slice(1)).toEqual([
      '<skills>',
      '<skill name="a">One</skill>',
      '<skill name="b">Two &lt;/skills&gt; &amp; &quot;more&quot; lines</skill>',
      '</skills>',
    ])
  })

  it('is nothing where there are none', () => {
    expect(skillsSection([])).toBe('')
  })
})
