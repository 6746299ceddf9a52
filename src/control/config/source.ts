import type { z } from 'zod'
import { explain, type Fault, pathText } from './explain.js'
import { fieldsOf } from './fields.js'
import type { Problem } from './problem.js'
import type { Config } from './schema.js'
import { readYaml } from './yaml.js'
import type { Path } from './yaml-nodes.js'

/** One configuration file, read. */
export type Source<P, S> = {
  file: string
  /** What is sound in it, so that later checks can speak about the rest of the file in the same breath. */
  config: Config<P, S>
  /** The settings it has, as `budget.turns`. */
  keys: string[]
  problems: Problem[]
  /** A fault found later, with its place in this file. */
  problem: (fault: Fault) => Problem
}

export async function readSource<P, S>(
  file: string,
  text: string,
  schema: z.ZodType<Config<P, S>>,
): Promise<Source<P, S>> {
  const yaml = await readYaml(file, text)
  const problem = ({ path, at, message, nearest }: Fault): Problem => {
    return { file, ...yaml.locate(path, at), message, nearest }
  }
  const source = { file, config: {}, keys: [], problems: yaml.problems, problem }
  if (yaml.broken || yaml.value === null) return source

  const parsed = schema.safeParse(yaml.value)
  if (parsed.success) return { ...source, config: parsed.data, keys: leaves(parsed.data, []) }
  const faults = explain(parsed.error.issues, yaml.value, fieldsOf(schema))
  const problems = [...yaml.problems, ...faults.map(problem)]
  const faulty = new Set(faults.map((fault) => pathText(fault.path)))
  const sound = schema.safeParse(without(yaml.value, faulty, []))
  if (!sound.success) return { ...source, problems }
  const later = (fault: Fault) => problem({ ...fault, path: asWritten(fault.path, faulty) })
  return { ...source, config: sound.data, keys: leaves(sound.data, []), problems, problem: later }
}

/** A copy without what is at the faulty paths. */
function without(value: unknown, faulty: ReadonlySet<string>, path: Path): unknown {
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).flatMap(([key, item]) => {
    const at = [...path, Array.isArray(value) ? Number(key) : key]
    return faulty.has(pathText(at)) ? [] : [[key, without(item, faulty, at)] as const]
  })
  return Array.isArray(value) ? kept.map(([, item]) => item) : Object.fromEntries(kept)
}

/** The path that something in the copy has in the file, where faulty items of lists stand before it. */
function asWritten(path: Path, faulty: ReadonlySet<string>): Path {
  const written: (string | number)[] = []
  for (const step of path) {
    let at = step
    if (typeof at === 'number') {
      for (let i = 0; i <= at; i++) if (faulty.has(pathText([...written, i]))) at++
    }
    written.push(at)
  }
  return written
}

function leaves(value: object, path: Path): string[] {
  return Object.entries(value).flatMap(([key, item]) => {
    const at = [...path, key]
    const isMapping = typeof item === 'object' && item !== null && !Array.isArray(item)
    return isMapping ? leaves(item, at) : [pathText(at)]
  })
}
