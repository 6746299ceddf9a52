import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { RetinueError } from '../../index.js'
import type { ContractFlags } from '../contract-flags.js'
import { EXIT } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { editPlan } from '../plan/editing.js'
import { planOptions } from '../plan/flags.js'
import { previewLines } from '../plan/preview-lines.js'
import { findPlan, type PlanSource, refuseOpen } from '../plan/source.js'
import { choose } from '../question/choose.js'
import { line, paintFor } from '../style.js'

/** A plan in the person's editor. It is saved when it can be carried out, and otherwise kept beside. */
export async function planEdit(named: string, options: StoreOptions & ContractFlags): Promise<number> {
  if (named === '-') throw new RetinueError('input', 'What comes on stdin cannot be edited: name a file or a run')
  return withRetinue(options, async (retinue) => {
    const as = planOptions(options)
    const source = await findPlan(retinue, named)
    refuseOpen(source.run, 'edited')
    const say = (text: string) => void process.stderr.write(`${text}\n`)
    const asks = process.stdin.isTTY === true && process.stderr.isTTY === true
    const edited = await editPlan(source.text, {
      say,
      check: (text) => retinue.checkPlan(text, as),
      name: source.name,
      ...(asks ? { again } : {}),
    })
    if (edited.kind === 'unchanged') return edited.failed ? EXIT.failed : EXIT.ok
    const saved = edited.kind === 'sound' && (await isAsItWas(source))
    const file = saved ? (source.file as string) : await freeName(source.file as string)
    await save(file, edited.text)
    await edited.forget()
    if (edited.kind === 'sound' && saved) {
      for (const text of previewLines(edited.preview, paintFor(process.stderr, process.env))) say(text)
      process.stdout.write(`Saved ${line(file)}. Carry it out with: retinue plan run ${named}\n`)
      return EXIT.ok
    }
    const why = edited.kind === 'sound' ? 'somebody else has changed it meanwhile' : 'what you wrote has faults'
    throw new RetinueError('input', `${source.name} is as it was, because ${why}; what you wrote is in ${file}`)
  })
}

/** Whether the person wants to mend what has faults. */
async function again(): Promise<boolean> {
  process.stderr.write('? Edit it again?\n')
  const labels = ['No: leave the plan as it was, and keep what I wrote beside it', 'Yes, edit it again']
  const desk = { input: process.stdin, output: process.stderr }
  const ended = await choose(desk, new AbortController().signal, { labels, chosen: 0, escape: 'means no' })
  return ended.kind === 'answer' && ended.value === 1
}

async function isAsItWas({ file, text, run }: PlanSource): Promise<boolean> {
  const now = await readFile(file as string, 'utf8').catch(() => null)
  return now === text || (now === null && run !== null)
}

/** All of it or nothing: whoever reads it meanwhile has the one or the other. */
async function save(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const beside = `${file}.${process.pid}.tmp`
  await writeFile(beside, text)
  await rename(beside, file)
}

/** `plan.edited.yaml` beside `plan.yaml`, or the next number that is free. */
async function freeName(file: string): Promise<string> {
  const ending = extname(file)
  const stem = file.slice(0, file.length - ending.length)
  for (let number = 1; ; number++) {
    const name = `${stem}.edited${number === 1 ? '' : `-${number}`}${ending}`
    if ((await readFile(name).catch(() => null)) === null) return name
  }
}
