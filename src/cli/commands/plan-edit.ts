import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { RetinueError } from '../../index.js'
import type { ContractFlags } from '../contract-flags.js'
import { EXIT } from '../exit.js'
import { type StoreOptions, withRetinue } from '../open.js'
import { checkToSave, editPlan } from '../plan/editing.js'
import { faultLines } from '../plan/faults.js'
import { optionsFor } from '../plan/of-run.js'
import { previewLines } from '../plan/preview-lines.js'
import { saveText } from '../plan/saving.js'
import { findPlan, type PlanSource, refuseOpen } from '../plan/source.js'
import { choose } from '../question/choose.js'
import { line, paintFor } from '../style.js'

/** A plan in the person's editor. It is saved when it has no fault of its own, and otherwise kept beside. */
export async function planEdit(named: string, options: StoreOptions & ContractFlags): Promise<number> {
  if (named === '-') throw new RetinueError('input', 'What comes on stdin cannot be edited: name a file or a run')
  return withRetinue(options, async (retinue) => {
    const source = await findPlan(retinue, named)
    refuseOpen(source.run, 'edited')
    const as = await optionsFor(retinue, source.run, options)
    const say = (text: string) => void process.stderr.write(`${text}\n`)
    const asks = process.stdin.isTTY === true && process.stderr.isTTY === true
    const edited = await editPlan(source.text, {
      say,
      check: (text) => checkToSave(retinue, text, as),
      name: source.name,
      ...(asks ? { again } : {}),
    })
    if (edited.kind === 'unchanged') return edited.failed ? EXIT.failed : EXIT.ok
    const saved = edited.kind === 'sound' && (await isAsItWas(source))
    const file = saved ? (source.file as string) : await freeName(source.file as string)
    await saveText(file, edited.text, source.file as string)
    await edited.forget()
    if (edited.kind === 'sound' && saved) {
      const { preview, warnings } = edited
      for (const text of preview ? previewLines(preview, paintFor(process.stderr, process.env)) : []) say(text)
      for (const text of faultLines(source.name, warnings)) say(text)
      const then = preview
        ? `Carry it out with: retinue plan run ${named}`
        : 'It cannot be carried out as things are here: why is said above'
      process.stdout.write(`Saved ${line(file)}. ${then}\n`)
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

/** `plan.edited.yaml` beside `plan.yaml`, or the next number that is free. */
async function freeName(file: string): Promise<string> {
  const ending = extname(file)
  const stem = file.slice(0, file.length - ending.length)
  for (let number = 1; ; number++) {
    const name = `${stem}.edited${number === 1 ? '' : `-${number}`}${ending}`
    if ((await readFile(name).catch(() => null)) === null) return name
  }
}
