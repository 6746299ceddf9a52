import { z } from 'zod'
import { oneLine } from './text.js'
import { defineTool } from './tool.js'

export const askUser = defineTool({
  name: 'ask_user',
  effect: 'ask_person',
  // After a restart the person has to see the question again.
  repeatable: true,
  description: () => 'Asks the person a question and waits for the answer. Only for what you cannot find out yourself.',
  parameters: z.strictObject({
    question: z.string().min(1),
    options: z.array(z.string().min(1)).optional().describe('answers to choose from'),
  }),
  plan: async (args) => ({ ok: true, plan: { summary: `ask: ${oneLine(args.question)}`, paths: [] } }),
  async execute(args, context) {
    const { call_id } = context
    const answer = await context.askPerson({ call_id, text: args.question, options: args.options ?? [] })
    return answer === null ? { ok: false, content: 'no person answered' } : { ok: true, content: answer }
  },
})
