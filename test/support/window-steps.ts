import type { Locator, Page } from 'playwright-core'
import { lines, retinue } from './cli.js'
import { model, type Script } from './window-project.js'

/** What people do in the window, by the names that they see. */

/** From the page of runs; ends on the page of the run, and gives its id. */
export async function startRun(
  page: Page,
  task: string,
  { script, mode = '' }: { script: Script; mode?: string },
): Promise<string> {
  const dialog = page.getByRole('dialog', { name: 'New run' })
  await page
    .getByRole('button', { name: /^(New run|Start one here)/ })
    .first()
    .click()
  await dialog.getByLabel('Task').fill(task)
  await dialog.getByLabel('Model', { exact: true }).fill(model(script))
  await dialog.getByLabel('Mode', { exact: true }).selectOption(mode)
  await dialog.getByRole('button', { name: 'Start the run' }).click()
  await page.waitForURL(/\/runs\/[^/]+$/)
  return new URL(page.url()).pathname.split('/')[2] as string
}

/** The row of an agent in the tree. */
export function agentRow(page: Page, id: string): Locator {
  return page
    .getByRole('treegrid')
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: id, exact: true }) })
}

/** Of one question that waits. */
export function question(page: Page, text: string | RegExp): Locator {
  return page
    .getByRole('region', { name: 'Questions that wait for you' })
    .first()
    .getByRole('article')
    .filter({ hasText: text })
}

/** How a run stands, `running` or `completed` and so on: a sign and the word, beside its task. */
export function runStatus(page: Page, word: string): Locator {
  return page
    .getByRole('main')
    .getByText(new RegExp(`^[^\\s\\w] ${word}$`))
    .first()
}

/** Goes through a list that has only those lines that can be seen, and gives what each line begins with, by its place. */
const GO_THROUGH = `(async (box) => {
  const seen = new Map()
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  box.scrollTo(0, 0)
  for (let looks = 0; looks < 500; looks++) {
    await drawn()
    const lines = [...box.querySelectorAll('li')]
    for (const line of lines) seen.set(Number(line.ariaPosInSet), Number(line.querySelector('span').textContent))
    if (lines.length > 0 && seen.size >= Number(lines[0].ariaSetSize)) break
    box.scrollBy(0, box.clientHeight / 2)
  }
  return [...seen].sort(([a], [b]) => a - b).map(([, position]) => position)
})(document.querySelector('section[aria-label=Events]'))`

/** The positions of all events in the list, in their order. */
export function positionsIn(page: Page): Promise<number[]> {
  return page.evaluate(GO_THROUGH) as Promise<number[]>
}

export type RunLine = {
  run_id: string
  task: string
  status: string
  outcome: string | null
  plan: boolean
  cost_usd: number | null
  input_tokens: number
  output_tokens: number
}

/** The runs of a folder as the terminal lists them. */
export async function runsOf(cwd: string): Promise<RunLine[]> {
  return lines((await retinue(['runs', '--json'], { cwd })).stdout) as RunLine[]
}

export async function told(cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await retinue(args, { cwd })
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}${stdout}`)
  return stdout
}
