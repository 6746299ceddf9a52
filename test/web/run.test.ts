import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { ended, lines, start } from '../support/cli.js'
import { oneServer } from '../support/serving.js'
import { release, windowProject } from '../support/window-project.js'
import { agentRow, positionsIn, question, runStatus, runsOf, startRun, told } from '../support/window-steps.js'

const server = oneServer((finished) => windowProject({ finished }))

describeInBrowser('a run in the window', (browser) => {
  it('is started there, grows before one’s eyes, and loses and doubles nothing when the page is loaded again', async () => {
    const { cwd, url } = server()
    const page = await browser.open({ url })
    const run_id = await startRun(page, 'See to the roof', { script: 'growing', mode: 'auto' })
    await agentRow(page, 'a1').getByText('until [ -e go ]').waitFor()
    expect(await page.getByRole('treegrid').getByRole('row').count()).toBe(3)
    await runStatus(page, 'running').waitFor()

    release(cwd, 'more')
    await agentRow(page, 'a3.1').getByText('until [ -e go ]').waitFor()
    await agentRow(page, 'root').getByText('waits for a1, a2 and a3').waitFor()

    await page.reload()
    await agentRow(page, 'a3.1').getByText('until [ -e go ]').waitFor()
    await agentRow(page, 'root').getByText('waits for a1, a2 and a3').waitFor()

    release(cwd, 'go')
    await runStatus(page, 'completed').waitFor()
    const logged = lines(await told(cwd, 'show', run_id, '--json')) as { position: number }[]
    expect(await positionsIn(page)).toEqual(logged.map(({ position }) => position))

    await page.getByRole('button', { name: 'Report' }).click()
    await page.getByRole('tabpanel').getByText('sound').waitFor()
  })

  it('asks for permission, and hears a yes and a no with its reason', async () => {
    const { cwd, url } = server()
    const page = await browser.open({ url })
    await startRun(page, 'Write the notes', { script: 'asking', mode: 'normal' })
    await question(page, 'notes.txt').getByRole('button', { name: 'Allow once' }).click()
    const second = question(page, 'secret.txt')
    await second.getByText('The key is under the mat').waitFor()
    expect(existsSync(join(cwd, 'notes.txt'))).toBe(true)
    await second.getByLabel('Note that goes with a no').fill('Not that one')
    await second.getByRole('button', { name: 'Deny' }).click()
    await runStatus(page, 'completed').waitFor()
    expect(await page.getByRole('region', { name: 'Questions that wait for you' }).count()).toBe(0)
    expect(existsSync(join(cwd, 'secret.txt'))).toBe(false)
  })

  it('shows the contract of an agent, with what was clamped and why, in the words of the terminal', async () => {
    const { cwd, url } = server()
    const page = await browser.open({ url })
    const run_id = await startRun(page, 'Count the slates', { script: 'clamped', mode: 'auto' })
    await runStatus(page, 'completed').waitFor()
    await agentRow(page, 'a1').getByText('clamped').waitFor()
    await agentRow(page, 'a1').click()
    const panel = page.getByRole('complementary', { name: 'Agent a1' })
    await panel.getByRole('heading', { name: 'Clamped: it got less than was asked for' }).waitFor()
    const shown = await panel.innerText()
    expect(shown).toContain('the profile researcher gives no more')
    const said = (await told(cwd, 'show', run_id, 'a1')).split('\n\n')[1] as string
    const budget = said.slice(said.indexOf('budget'), said.indexOf('adjusted'))
    // Every row of the card that the terminal prints, and every line of the budget.
    const rows = said
      .slice(0, said.indexOf('budget'))
      .split('\n')
      .map((line) => /^(\S+(?: \S+)*) {2,}(.*)$/.exec(line))
      .filter((row) => row !== null)
    const words = shown.replaceAll(/\s+/g, ' ')
    const missing = rows.map(([, , text]) => text as string).filter((text) => !words.includes(text))
    expect(missing).toEqual([])
    expect(rows.length).toBeGreaterThan(8)
    for (const line of budget.replace('budget', '').split('\n')) {
      const [, what, amount] = /^\s*([^:]+): (.*)$/.exec(line) ?? []
      if (what === undefined) continue
      expect([what, words.includes(amount as string)]).toEqual([what, true])
    }
    await panel.getByRole('tab', { name: 'Transcript' }).click()
    await panel.getByText('I counted 412.').waitFor()
  })

  it('is cancelled there, with the reason in the log', async () => {
    const { cwd, url } = server()
    const page = await browser.open({ url })
    const task = 'Wait for something that does not come'
    // Another process works on it: the window cancels any run.
    const child = start(['run', task, '-p', '--mode', 'auto', '--model', 'scripted/held-on.yaml'], { cwd })
    child.stdin.end()
    const end = ended(child)
    await page.getByRole('link', { name: task }).click()
    await agentRow(page, 'root').getByText('until [ -e never ]').waitFor()
    await page.getByRole('main').getByRole('button', { name: 'Cancel', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel the run?' })
    await dialog.getByLabel('Reason, for the log').fill('It was never to come')
    await dialog.getByRole('button', { name: 'Cancel the run' }).click()
    await runStatus(page, 'cancelled').waitFor()
    await page.getByRole('main').getByText('It was never to come').first().waitFor()
    expect((await end).code).not.toBe(0)
    const [run] = (await runsOf(cwd)).filter((one) => one.task === task)
    expect(run).toMatchObject({ status: 'closed', outcome: 'cancelled' })
  })

  it('is found, opened and left with the keyboard alone', async () => {
    const page = await browser.open({ url: server().url })
    await page.getByRole('link', { name: 'Count the slates' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('slates')
    await page.getByRole('link', { name: 'See to the roof' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Tab')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Count the slates')
    await page.keyboard.press('Enter')
    await agentRow(page, 'a1').waitFor()
    const isInTree = `document.activeElement.getAttribute('role') === 'treegrid'`
    for (let tabs = 0; tabs < 40 && !(await page.evaluate(isInTree)); tabs++) await page.keyboard.press('Tab')
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('complementary', { name: 'Agent a1' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('complementary', { name: 'Agent a1' }).waitFor({ state: 'detached' })
  })
})
