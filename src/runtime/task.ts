import type { DelegationRequest } from '../domain/index.js'

/** Of an earlier result, so much is handed on; whoever wants more asks for it. */
const INPUT_CHARS = 8000

/** What a sub-agent is told: its task and all that was given with it. Nothing else of its parent reaches it. */
export function taskMessage(request: DelegationRequest): string {
  const { task, scope, context, owns, success_criteria = [], checks = [], inputs = [] } = request
  const commands = checks.flatMap((check) => (check.kind === 'command' ? [`- ${check.command}`] : []))
  const schemas = checks.flatMap((check) => (check.kind === 'schema' ? [JSON.stringify(check.schema)] : []))
  return [
    task.trim(),
    scope ? `Look at: ${scope}` : '',
    owns ? `You may write only: ${owns.join(', ') || 'nothing'}` : '',
    list(
      'You are done when:',
      success_criteria.map((criterion) => `- ${criterion}`),
    ),
    list('Afterwards these commands are run, and each must end with exit code 0:', commands),
    ...schemas.map((schema) => `Answer with JSON alone, which fits this schema: ${schema}`),
    context ? `Context:\n${context.trim()}` : '',
    ...inputs.map(input),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function list(title: string, items: string[]): string {
  return items.length === 0 ? '' : [title, ...items].join('\n')
}

/** One that is not complete says so, or it would pass for the whole truth. */
function input({ from, title, outcome, text }: NonNullable<DelegationRequest['inputs']>[number]): string {
  const state = outcome === 'completed' ? '' : ` (incomplete: ${outcome})`
  const cut = text.length > INPUT_CHARS ? `${text.slice(0, INPUT_CHARS)}\n[cut after ${INPUT_CHARS} characters]` : text
  // What a sub-agent said cannot end the frame that it stands in.
  const framed = cut.trim().replace(/<(?=\s*\/?\s*result)/gi, '&lt;')
  return `<result of="${from}" task=${JSON.stringify(title)}>${state}\n${framed}\n</result>`
}
