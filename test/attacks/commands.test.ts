import { readdirSync, rmSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import {
  type Authority,
  type Call,
  type Decision,
  type Mode,
  parseRule,
  permits,
  type Rule,
} from '../../src/domain/index.js'
import { parseCommand } from '../../src/tools/commands/parse.js'
import { BYPASSES, type Bypass } from './commands/bypasses.js'
import { EVERYDAY, EVERYDAY_RULES } from './commands/everyday.js'
import { type Fenced, fence } from './commands/fenced.js'
import { environment, prepareFolder } from './commands/folder.js'

const rule = (decision: Decision, pattern: string): Rule => {
  const parsed = parseRule(decision, `run_command(${pattern})`)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.rule
}

async function verdict(mode: Mode, rules: Rule[], command: string) {
  const parsed = await parseCommand(command)
  const call: Call = {
    tool: 'run_command',
    effect: 'execute',
    paths: [],
    commands: parsed.ok ? parsed.parts : null,
    sandboxed: true,
  }
  const authority: Authority = {
    mode,
    allowed_tools: ['run_command'],
    allowed_skills: [],
    allowed_mcp_servers: [],
    read_paths: [['**']],
    write_paths: [['**']],
    rules: [{ mode, rules }],
    network: 'none',
    can_ask_person: false,
    can_spawn_children: false,
    max_delegation_depth: 0,
  }
  return { decision: permits(authority, call).decision, why: parsed.ok ? '' : parsed.why }
}

const show = (command: string) => (command.length > 160 ? `${command.slice(0, 160)}…` : command)
const rates: string[] = []
afterAll(() => {
  console.log(`commands: ${rates.join('; ')}`)
})

describe('ways around rules about commands', () => {
  it('stops every one of them', async () => {
    const through: unknown[] = []
    for (const { allow, deny, command, group } of BYPASSES) {
      const rules = [...allow.map((each) => rule('allow', each)), ...deny.map((each) => rule('deny', each))]
      const { decision } = await verdict(deny.length > 0 ? 'auto' : 'normal', rules, command)
      const stopped = deny.length > 0 ? decision === 'deny' : decision !== 'allow'
      if (!stopped) through.push({ group, command: show(command), decision })
    }
    rates.push(`${BYPASSES.length - through.length}/${BYPASSES.length} stopped`)
    expect(through).toEqual([])
    expect(BYPASSES.length).toBeGreaterThanOrEqual(170)
    expect(new Set(BYPASSES.map(({ command }) => command)).size).toBe(BYPASSES.length)
  })

  // Without the rules each does what nobody permitted; so it is the rules that stop it.
  it('lets each of them work when nothing stops it', { timeout: 600_000 }, async ({ onTestFinished }) => {
    const { base, copy, odd } = prepareFolder()
    onTestFinished(() => rmSync(base, { recursive: true, force: true }))
    const fenced = fence(base, environment(odd))
    const installed = await whatIsInstalled(fenced, base)
    const tried = BYPASSES.filter(({ needs }) => needs.every((need) => installed.has(need)))
    const failed: unknown[] = []
    let next = 0
    const worker = async () => {
      for (let i = next++; i < tried.length; i = next++) {
        const bypass = tried[i] as Bypass
        const folder = copy(`try-${i}`, fenced.owner)
        const output = await fenced.run(bypass.command, folder)
        const names = readdirSync(folder)
        const removed = bypass.deny.length > 0 && !names.includes('victim')
        const made = bypass.deny.length === 0 && names.some((name) => name.startsWith('pwned'))
        const worked = bypass.prints ? output.includes('alpha') : removed || made
        if (!worked) failed.push({ command: show(bypass.command), output: output.slice(0, 300) })
        rmSync(folder, { recursive: true, force: true })
      }
    }
    await Promise.all([worker(), worker(), worker(), worker()])
    rates.push(`${tried.length - failed.length} twins worked, ${BYPASSES.length - tried.length} lack a program here`)
    expect(failed).toEqual([])
    expect(tried.length).toBeGreaterThanOrEqual(150)
  })
})

describe('everyday commands', () => {
  it('pass with a list of rules as a developer would write it', async () => {
    const rules = EVERYDAY_RULES.map((each) => rule('allow', each))
    const stopped: unknown[] = []
    for (const command of EVERYDAY) {
      const { decision, why } = await verdict('normal', rules, command)
      if (decision !== 'allow') stopped.push({ command, why })
    }
    rates.push(`benign ${EVERYDAY.length - stopped.length}/${EVERYDAY.length} passed`)
    expect(stopped).toEqual([])
    expect(new Set(EVERYDAY).size).toBe(EVERYDAY.length)
    expect(EVERYDAY.length).toBeGreaterThanOrEqual(220)
  })

  it('pass in a sandbox in auto mode, without rules and with a deny for something else', async () => {
    const other = [rule('deny', 'rm *'), rule('deny', 'git push --force *'), rule('ask', 'docker *')]
    for (const rules of [[], other]) {
      const stopped: unknown[] = []
      for (const command of EVERYDAY) {
        const { decision, why } = await verdict('auto', rules, command)
        if (decision !== 'allow') stopped.push({ command, why })
      }
      expect(stopped).toEqual([])
    }
  })
})

async function whatIsInstalled(fenced: Fenced, folder: string): Promise<Set<string>> {
  const names = [...new Set(BYPASSES.flatMap(({ needs }) => needs))]
  const output = await fenced.run(
    `for p in ${names.join(' ')}; do command -v "$p" >/dev/null && echo "$p"; done`,
    folder,
  )
  return new Set(output.split('\n'))
}
