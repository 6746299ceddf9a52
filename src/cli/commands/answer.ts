import { type Answer, grantInWords, type OpenQuestion, type Retinue, RetinueError } from '../../index.js'
import { missingFor } from '../attendance.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { indented } from '../question/indented.js'
import { line, printable } from '../style.js'

type AnswerOptions = StoreOptions & {
  allow?: boolean
  deny?: boolean
  always?: boolean
  note?: string
  text?: string
  call?: string
  json?: boolean
}

/** What a run asks, wherever it runs; with a flag that says what to answer, answers it. */
export async function answer(id: string, options: AnswerOptions): Promise<number> {
  const says = options.allow || options.deny || options.always || options.text !== undefined
  if (!says && options.note !== undefined) throw new RetinueError('input', '--note goes with --allow or --deny')
  return withRetinue(options, async (retinue) => {
    const { run_id } = await retinue.find(id)
    const open = await retinue.questions(run_id)
    const named = open.filter((question) => options.call === undefined || isNamed(question, options.call))
    if (!says) {
      if (options.json) for (const question of named) process.stdout.write(`${JSON.stringify(question)}\n`)
      else process.stdout.write(`${listed(run_id, named)}\n`)
      if (named.length > 0) await sayMissing(retinue, run_id)
      return 0
    }
    const question = theOne(run_id, named, open)
    await sayMissing(retinue, run_id)
    await retinue.answer(run_id, answerTo(question, options), 'person')
    if (options.json) process.stdout.write(`${JSON.stringify({ run_id, ...answerTo(question, options) })}\n`)
    else process.stdout.write(`Answered ${nameOf(question)} of run ${run_id}\n`)
    return 0
  })
}

/** As long as nobody works on the run, nobody hears an answer. */
async function sayMissing(retinue: Retinue, run_id: string): Promise<void> {
  const missing = await missingFor(retinue, run_id)
  if (missing !== null) process.stderr.write(`retinue: ${missing}\n`)
}

/** Of several agents the calls may have the same id, and of one call several steps may ask. */
function nameOf(question: OpenQuestion): string {
  const { agent_id, call_id } = question
  const step = question.kind === 'approval' ? question.step : null
  return [agent_id, call_id, ...(step === null ? [] : [step])].map(line).join('/')
}

function isNamed(question: OpenQuestion, name: string): boolean {
  return name === question.call_id || name === nameOf(question)
}

function theOne(run_id: string, named: readonly OpenQuestion[], open: readonly OpenQuestion[]): OpenQuestion {
  const [question, another] = named
  if (question && !another) return question
  if (open.length === 0) throw new RetinueError('not_found', `Run ${run_id} asks nothing`)
  const names = (question ? named : open).map(nameOf).join(', ')
  if (!question) throw new RetinueError('not_found', `Run ${run_id} asks nothing of that name: it asks ${names}`)
  throw new RetinueError('input', `Run ${run_id} asks more than one thing: name one with --call: ${names}`)
}

function answerTo(question: OpenQuestion, { allow, deny, always, text, ...more }: AnswerOptions): Answer {
  const note = more.note ?? null
  const { agent_id, call_id, kind } = question
  const named = { agent_id, call_id }
  if (kind === 'question') {
    if (text === undefined && !deny)
      throw new RetinueError('input', 'It is a question: answer it with --text, or with --deny not at all')
    if (note !== null)
      throw new RetinueError('input', '--note is for a yes or a no; what you want to say goes into --text')
    return { ...named, kind, text: text ?? null }
  }
  if (text !== undefined) throw new RetinueError('input', 'It wants a yes or a no: --allow or --deny; --note says why')
  if (kind === 'permission') {
    return { ...named, kind, answer: deny ? 'deny' : 'allow', ...(always ? { standing: true } : {}), note }
  }
  if (always) throw new RetinueError('input', '--always is for permissions: say --allow')
  return { ...named, kind, step: question.step, answer: allow ? 'approve' : 'decline', note }
}

function listed(run_id: string, questions: readonly OpenQuestion[]): string {
  if (questions.length === 0) return `Run ${run_id} asks nothing`
  return questions
    .flatMap((question) => [...said(question), ...seen(run_id, question), `  ${ways(run_id, question)}`])
    .join('\n')
}

function said(question: OpenQuestion): string[] {
  const name = nameOf(question)
  switch (question.kind) {
    case 'permission': {
      const { detail, cut, tool, summary, reason } = question
      const what = `? ${name} ${line(tool)}: ${line(summary)} (${line(reason)})`
      return [...(detail === null ? [] : [indented(detail)]), ...(cut ? [CUT] : []), what]
    }
    case 'question': {
      const options = question.options.map((option) => `  - ${line(option)}`)
      return [`? ${name} ${printable(question.text)}`, ...options]
    }
    case 'approval': {
      const what = question.step === null ? 'carry this plan out' : `begin step ${line(question.step)}`
      return [`? ${name} ${what}: ${line(question.title)}`]
    }
    default:
      return question satisfies never
  }
}

/** A plan is too long to stand beside its question. */
function seen(run_id: string, question: OpenQuestion): string[] {
  return question.kind === 'approval' ? [`  see it: retinue plan show ${run_id}`] : []
}

const CUT = '! Its middle is left out here: a yes is to that, too.'

function ways(run_id: string, question: OpenQuestion): string {
  const command = `retinue answer ${run_id} --call ${nameOf(question)}`
  if (question.kind === 'question') return `${command} --text <answer>`
  const always = question.kind === 'permission' && question.grant !== null ? question.grant : null
  const standing = always === null ? '' : ` | --always (${line(grantInWords(always))})`
  return `${command} --allow | --deny${standing}`
}
