import type { PlanFault } from './faults.js'
import { type PlanText, readYamlText } from './plan-yaml.js'

/** As much as a plan may be. Nobody reads more before they say yes to it. */
export const MAX_PLAN_CHARS = 1_000_000

/** The text of a plan as a value: that of a file, or what a model answered, with words around it. */
export function readPlanText(text: string): PlanText {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text
  if (source.length > MAX_PLAN_CHARS) {
    return { ok: false, faults: [{ path: '', message: tooLarge(source.length) }] }
  }
  const found = planIn(source)
  if (typeof found === 'string') return { ok: false, faults: [{ path: '', message: found }] }
  const read = readYamlText(found.text)
  const above = source.slice(0, found.from).split('\n').length - 1
  if (!read.ok) return { ok: false, faults: read.faults.map((fault) => moved(fault, above)) }
  return { ...read, lineOf: (path, at) => read.lineOf(path, at) + above }
}

export function tooLarge(characters: number): string {
  return `the plan has ${characters} characters: at most ${MAX_PLAN_CHARS} are read`
}

/** No line of YAML or JSON begins with a fence: inside of a text it is indented. */
const FENCED = /^```[\w-]*[ \t]*\r?\n([\s\S]*?)^```[ \t]*\r?$/gm
const HAS_STEPS = /(?:^|[\s{,])["']?steps["']?\s*:/

type Found = { text: string; from: number }

/** Where in a text the plan is, or why that cannot be told. */
function planIn(text: string): Found | string {
  const fenced = [...text.matchAll(FENCED)].map((match): Found => {
    const inside = match[1] as string
    return { text: inside, from: match.index + match[0].indexOf('\n') + 1 }
  })
  const plans = fenced.length > 1 ? fenced.filter((block) => HAS_STEPS.test(block.text)) : fenced
  const [first, second] = plans
  if (second) return `${plans.length} fenced blocks could be the plan: leave one`
  return first ?? bareJson(text) ?? { text, from: 0 }
}

/** JSON that begins on a line of its own, with words before or after it. */
function bareJson(text: string): Found | null {
  const from = text.search(/^\{/m)
  if (from < 0) return null
  const inside = text.slice(from, text.lastIndexOf('}') + 1)
  try {
    JSON.parse(inside)
    return { text: inside, from }
  } catch {
    return null
  }
}

function moved({ line, ...fault }: PlanFault, above: number): PlanFault {
  return line === undefined ? fault : { ...fault, line: line + above }
}
