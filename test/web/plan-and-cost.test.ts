import { expect, it } from 'vitest'
import { costInWords, countInWords } from '../../src/domain/index.js'
import { describeInBrowser } from '../support/browser.js'
import { GOAL, planProject } from '../support/plan-project.js'
import { serving } from '../support/serving.js'
import { OWN_CONFIG } from '../support/window-place.js'
import { model, windowProject } from '../support/window-project.js'
import { runsOf, told } from '../support/window-steps.js'

describeInBrowser('in the window', (browser) => {
  it('a goal becomes a plan, is carried out after a yes, and its steps are seen as they come', async () => {
    const cwd = planProject({ [OWN_CONFIG]: 'model: scripted/goal.yaml\n' })
    const server = await serving(cwd)
    const page = await browser.open({ url: server.url })
    await page
      .getByRole('button', { name: /New run|Start one here/ })
      .first()
      .click()
    const dialog = page.getByRole('dialog', { name: 'New run' })
    await dialog.getByLabel('Task').fill(GOAL)
    await dialog.getByLabel('Make a plan first').check()
    await dialog.getByLabel('Mode', { exact: true }).selectOption('auto')
    await dialog.getByRole('button', { name: 'Make the plan' }).click()
    await page.waitForURL(/\/runs\/[^/]+$/)
    // The same question in the same words on both pages.
    const asked = page.getByRole('article').filter({ hasText: 'asks whether to carry out' })
    const words = async () => (await asked.getByRole('button').allInnerTexts()).join(', ')
    await asked.waitFor()
    expect(await words()).toBe('Carry it out, Leave it for later')
    await page.getByRole('link', { name: 'Plan', exact: true }).click()
    const third = page.getByRole('button', { name: /^Write the third note.*waiting/ })
    await third.waitFor()
    expect(await words()).toBe('Carry it out, Leave it for later')
    // Whether what is seen is what is, and what can be done about the run, is there too.
    await page
      .getByRole('status')
      .filter({ hasText: /^live$/ })
      .waitFor()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).waitFor()
    await asked.getByRole('button', { name: 'Carry it out' }).click()
    await page.getByRole('button', { name: /^Write the third note.*completed/ }).waitFor()
    // The steps are done before the plan is: what it comes to is checked as a whole.
    const head = page.getByRole('main').locator('header').first()
    await head.getByText(/^[^\s\w] completed$/).waitFor()
    const first = async () => (await runsOf(cwd))[0]
    await expect.poll(first, { timeout: 60_000 }).toMatchObject({ status: 'closed', outcome: 'completed', plan: true })
    const run = await first()
    const shown = (await page.getByRole('main').innerText()).replaceAll(/\s+/g, ' ')
    const outcome = await told(cwd, 'plan', 'show', run?.run_id ?? '')
    for (const title of ['Write the first note', 'Write the second note', 'Write the third note']) {
      expect([title, outcome.includes(title), shown.includes(title)]).toEqual([title, true, true])
    }
  })

  it('costs are those that the terminal says', async () => {
    const cwd = windowProject()
    for (const [task, script] of [
      ['Do nothing', 'short'],
      ['Do nothing again', 'short'],
      ['Count the slates', 'clamped'],
    ] as const) {
      await told(cwd, 'run', task, '-p', '--mode', 'auto', '--model', model(script))
    }
    const server = await serving(cwd)
    const page = await browser.open({ url: server.url })
    await page.getByRole('link', { name: 'Cost' }).click()
    const table = page.getByRole('region', { name: 'By run' }).getByRole('table')
    for (const run of await runsOf(cwd)) {
      const row = table.getByRole('row').filter({ has: page.getByText(run.run_id, { exact: true }) })
      const cells = await row.getByRole('cell').allInnerTexts()
      const [cost, , tokens_in, , tokens_out] = cells
      expect([run.task, cost, tokens_in, tokens_out]).toEqual([
        run.task,
        run.cost_usd === null ? 'unknown' : costInWords(run.cost_usd),
        countInWords(run.input_tokens),
        countInWords(run.output_tokens),
      ])
    }
    expect(await table.getByRole('row').count()).toBe(4)
  })
})
