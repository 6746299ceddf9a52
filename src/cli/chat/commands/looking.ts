import { agentIds, listedRun, openDossier, type RunSummary, titleOf } from '../../../index.js'
import { runTable } from '../../commands/runs.js'
import { agentLines, runLines } from '../../commands/show.js'
import { runWords } from '../../run-words.js'
import { unknownAgent } from '../../show/unknown.js'
import { cost, count, line, PLAIN } from '../../style.js'
import type { Room } from '../room.js'

/** `/skills` */
export async function skills({ retinue }: Room) {
  const { skills: all } = await retinue.reachable()
  const data = all.map(({ name, description, file }) => ({ name, description, file }))
  if (data.length === 0) return { text: 'No skills here. They are folders with a SKILL.md in .agents/skills.', data }
  const width = Math.max(...data.map(({ name }) => name.length))
  const text = data.map(({ name, description }) => `${name.padEnd(width)}  ${line(description)}`)
  return { text: text.join('\n'), data }
}

/** `/mcp` */
export async function mcp({ retinue }: Room) {
  const { servers } = await retinue.reachable()
  const data = servers.map(({ name, state, version, message, tools }) => ({ name, state, version, message, tools }))
  if (data.length === 0) return { text: 'No MCP servers here. Name some under mcp_servers in retinue.yaml.', data }
  const text = data.flatMap(({ name, state, version, message, tools }) => [
    `${name}${version === null ? '' : ` ${line(version)}`}: ${state}${tools.length > 0 ? `, ${tools.length} tools` : ''}`,
    ...(message === null ? [] : [`  ${line(message)}`]),
    ...tools.map((tool) => `  ${tool}`),
    ...(state === 'untrusted' ? [`  Look at what it does, then: retinue mcp trust ${name}`] : []),
  ])
  return { text: text.join('\n'), data }
}

/** `/cost`: of this session, run by run, with what works in the background. */
export async function costs({ conversation, tasks }: Room) {
  const own = (await conversation.runs()).reverse().map((run) => ({ id: run.run_id, run }))
  const background = (await tasks.list()).flatMap(({ id, run }) => (run ? [{ id, run }] : []))
  const rows = [...own, ...background].map(({ id, run }) => ({
    ...{ id, run_id: run.run_id, task: line(titleOf(run.task)), tokens: run.input_tokens + run.output_tokens },
    cost_usd: run.cost_usd,
  }))
  if (rows.length === 0)
    return { text: 'Nothing was spent in this session.', data: { runs: [], tokens: 0, cost_usd: 0 } }
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0)
  const cost_usd = rows.some((row) => row.cost_usd === null)
    ? null
    : rows.reduce((sum, row) => sum + (row.cost_usd ?? 0), 0)
  const lines = [...rows, { id: 'all', task: '', tokens, cost_usd }].map(
    (row) =>
      `${row.id.padEnd(11)} ${`${count(row.tokens)} tokens`.padStart(16)}  ${cost(row.cost_usd).padEnd(17)} ${row.task}`,
  )
  return { text: lines.map((text) => text.trimEnd()).join('\n'), data: { runs: rows, tokens, cost_usd } }
}

/** `/runs` */
export async function runs({ retinue }: Room) {
  const rows = await Promise.all((await retinue.runs({ limit: 20 })).map((run) => listedRun(retinue, run)))
  if (rows.length === 0) return { text: 'No runs yet.', data: rows }
  return { text: runTable(rows, await runWords(retinue, rows), PLAIN).join('\n'), data: rows }
}

/** `/show [run] [agent]`: by t1 too; the last run of this session where none is named. */
export async function show({ retinue, conversation, tasks }: Room, name?: string, agent?: string) {
  const [last] = await conversation.runs()
  if (name === undefined && !last) return { text: 'Nothing was said in this session yet.', data: null }
  const id =
    name === undefined ? (last as RunSummary).run_id : /^t\d+$/.test(name) ? (await tasks.find(name)).run_id : name
  const run = await retinue.find(id)
  const events = await retinue.events(run.run_id)
  const dossier = agent === undefined ? null : openDossier(events, agent)
  if (agent !== undefined && !dossier) throw unknownAgent(run.run_id, agent, agentIds(events))
  const lines = dossier ? agentLines(run, dossier, PLAIN, false) : await runLines(retinue, run, events, PLAIN, false)
  return { text: lines.join('\n'), data: dossier?.events ?? events }
}
