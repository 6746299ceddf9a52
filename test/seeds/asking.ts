import type { Contract, Person, Question } from '../../src/index.js'
import { subAgents } from './family.js'

export const DONE = { text: 'Done.' }

/** What an answer of a model uses and costs. */
export const PAID = { usage: { input_tokens: 100, output_tokens: 20 }, cost_usd: 0.01 }

/** A step that asks for a sub-agent with each of these arguments, all in one turn. */
export function ask(...list: Record<string, string | number | boolean>[]) {
  return { calls: list.map((args) => ({ spawn_agent: { task: 'Work', ...args } })) }
}

export function toolNames(request: { tools: { name: string }[] } | undefined): string[] {
  return (request?.tools ?? []).map(({ name }) => name)
}

/** Without what is never the same. */
export function withoutSeconds(text: string): string {
  return text.replace(/\b\d+\.\ds$/gm, '0.0s')
}

/** A person who says yes to everything and remembers what it was. */
export function yes(): Person & { asked: Question[] } {
  const asked: Question[] = []
  return {
    asked,
    permit: async (question) => {
      asked.push(question)
      return { answer: 'allow', grant: null, by: 'tester', note: null }
    },
    answer: async () => 'yes',
  }
}

/** The contracts of the sub-agents as the database has them, in the order of their creation. */
export async function contracts(cwd: string): Promise<Contract[]> {
  return (await subAgents(cwd))
    .filter(({ parent_id }) => parent_id !== null)
    .map(({ context_json }) => JSON.parse(context_json))
}
