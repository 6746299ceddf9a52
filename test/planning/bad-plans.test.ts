import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type PlanFault, planFaults, readPlan, withLines } from '../../src/planning/index.js'
import { surroundings } from './surroundings.js'

const FOLDER = new URL('../fixtures/plans/bad/', import.meta.url)
const names = readdirSync(FOLDER)
const plans = names.filter((name) => !name.endsWith('.faults'))

it('there are at least forty of them', () => {
  expect(plans.length).toBeGreaterThanOrEqual(40)
})

it.each(plans)('%s has exactly these faults', async (name) => {
  const text = readFileSync(new URL(name, FOLDER), 'utf8')
  const expected = readFileSync(new URL(`${name}.faults`, FOLDER), 'utf8')
  expect(`${(await faultsIn(text)).map(inWords).join('\n')}\n`).toBe(expected)
})

async function faultsIn(text: string): Promise<PlanFault[]> {
  const read = readPlan(text)
  return read.ok ? withLines(await planFaults(read.plan, surroundings()), text) : read.faults
}

function inWords({ path, message, line }: PlanFault): string {
  return `${line ?? '-'} | ${path} | ${message}`
}
