import type { Contract, Prompt, ToolDefinition } from '../domain/index.js'

export type PromptFacts = {
  workspace_root: string
  platform: string
  /** The day, in words a model can use. */
  date: string
  /** Instruction files of the project, in order. */
  instructions: { path: string; text: string }[]
  /** The skills that can be loaded, ready to be shown; empty when there are none. */
  skills: string
  /** What MCP servers say about the use of their tools. */
  servers: { name: string; instructions: string }[]
  can_ask_person: boolean
  sandboxed: boolean
  network: Contract['permissions']['network']
  mode: Contract['permissions']['mode']
  /** The profiles and agents that sub-agents can have, ready to be shown; empty when there are none. */
  profiles: string
  tools: ToolDefinition[]
  /** In this order: of files, of its profile, of whoever asked for it. */
  prompts: string[]
}

/** What a sub-agent is told besides. */
export type ChildFacts = PromptFacts & {
  isolation: Contract['workspace']['isolation']
  budget: Contract['execution']['budget']
}

const MODE_TEXT: Record<Contract['permissions']['mode'], string> = {
  plan: 'You can read but change nothing. Say what you would do.',
  normal: 'Changes and commands may need a person to say yes.',
  auto: 'You may change files in the working directory and run commands in the sandbox; the rest may need a person to say yes.',
  dangerous: 'You may change files and run commands without asking.',
}

/** The system prompt and tools of a root agent. Built once, stored, and the same for every request of the agent. */
export function rootPrompt(facts: PromptFacts): Prompt {
  const lines = [
    'You are Retinue, an agent that does real work in a folder of files, with tools.',
    '',
    `Working directory: ${facts.workspace_root} (paths are relative to it)`,
    `Platform: ${facts.platform}. Today: ${facts.date}.`,
    MODE_TEXT[facts.mode],
    facts.sandboxed ? sandboxText(facts.network) : '',
    facts.can_ask_person ? '' : 'Nobody can answer questions during this run.',
    '',
    'Look before you change anything. Make the smallest change that does the whole task. When you can check your work (tests, a build, reading it again), do.',
    'Call several reading tools at once when they do not depend on each other.',
    'A call that is refused was refused for a reason that the result gives: take another way, do not repeat it.',
    'When you are done, answer with a short report of what you did and what you found. Do not claim what you have not seen.',
  ]
  return { system: paragraphs(lines) + sections(facts) + own(facts), tools: facts.tools }
}

/**
 * The system prompt and tools of a sub-agent: the same for siblings that differ in their task alone, so that providers'
 * caches and the store have it once.
 */
export function childPrompt(facts: ChildFacts): Prompt {
  const { budget } = facts
  const lines = [
    'You are a sub-agent: you do one task for another agent, which sees nothing of your work but your last answer.',
    '',
    `Working directory: ${facts.workspace_root} (paths are relative to it)`,
    `Platform: ${facts.platform}. Today: ${facts.date}.`,
    MODE_TEXT[facts.mode],
    facts.sandboxed && facts.mode !== 'plan' ? sandboxText(facts.network) : '',
    facts.isolation === 'worktree' ? OWN_TREE : '',
    `Your budget: ${budget.tool_calls} tool calls, ${budget.turns} turns, ${Math.round(budget.wall_ms / 1000)} seconds.${facts.can_ask_person ? '' : ' Nobody can answer questions.'}`,
    '',
    'Do the task and nothing else. Call several reading tools at once when they do not depend on each other.',
    'A call that is refused was refused for a reason that the result gives: take another way, do not repeat it.',
    'Be concise. End with a summary of what you did and found (files, lines, results) and what is left or doubtful. Do not claim what you have not seen.',
  ]
  return { system: paragraphs(lines) + sections(facts) + own(facts), tools: facts.tools }
}

/** What its profile, and whoever asked for it, say: after everything that others have too. */
function own({ prompts }: PromptFacts): string {
  const said = prompts.filter((text) => text.trim() !== '')
  return said.map((text) => `\n\n${text.trim()}`).join('')
}

const OWN_TREE =
  'From your first change or command on you work in a copy of these files that is your own; it is merged when you are done. In commands, use relative paths.'

/** Lines, with no two empty ones together. */
function paragraphs(lines: string[]): string {
  return lines.filter((line, i) => line !== '' || lines[i - 1] !== '').join('\n')
}

function sections({ instructions, servers, skills, profiles }: PromptFacts): string {
  return [
    ...instructions.map(({ path, text }) => `<instructions file="${path}">\n${text.trim()}\n</instructions>`),
    ...servers.map(({ name, instructions }) => `<mcp_server name="${name}">\n${instructions.trim()}\n</mcp_server>`),
    skills,
    profiles,
  ]
    .filter((section) => section !== '')
    .map((section) => `\n\n${section}`)
    .join('')
}

function sandboxText(network: PromptFacts['network']): string {
  const reach = network === 'all' ? '' : ', without the network'
  return `Commands run in a sandbox${reach}: they can change files in the working directory only, not .git.`
}
