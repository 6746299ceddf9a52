import { type Authority, type Decision, parseRule, type Rule } from '../../src/domain/index.js'

/** An authority in normal mode that allows all tools, with rules such as `deny web_fetch(example.org/**)`. */
export function authorityWith({
  rules = [],
  ...more
}: Partial<Omit<Authority, 'rules'>> & { rules?: string[] }): Authority {
  const parsed = rules.map((text): Rule => {
    const [decision = '', ...rest] = text.split(' ')
    const rule = parseRule(decision as Decision, rest.join(' '))
    if (!rule.ok) throw new Error(rule.message)
    return rule.rule
  })
  return {
    mode: 'normal',
    allowed_tools: ['web_fetch', 'web_search', 'run_tests', 'run_command', 'load_skill', 'overview'],
    allowed_skills: [],
    allowed_mcp_servers: [],
    read_paths: [['**']],
    write_paths: [['**']],
    network: 'tools',
    can_ask_person: true,
    can_spawn_children: false,
    max_delegation_depth: 0,
    rules: [{ mode: 'normal', rules: parsed }],
    ...more,
  }
}
