import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { oneServer } from '../support/serving.js'
import { release, windowProject } from '../support/window-project.js'
import { agentRow, question, runStatus, startRun } from '../support/window-steps.js'

const server = oneServer((finished) => windowProject({ finished }))

/** Makes the server answer with a failure for as long as it is not told otherwise. */
async function failing(page: Page, path: RegExp): Promise<() => Promise<void>> {
  const body = JSON.stringify({ error: { code: 'internal', message: 'The disk is full', faults: [] } })
  await page.route(path, (route) => route.fulfill({ status: 500, contentType: 'application/json', body }))
  return () => page.unroute(path)
}

const PHONE = { viewport: { width: 360, height: 740 } }
const focused = (page: Page, selector: string) =>
  expect.poll(() => page.evaluate(`document.activeElement.closest('${selector}') !== null`)).toBe(true)

describeInBrowser('when something fails in the window', (browser) => {
  it('a question that could not be loaded is said to be there, and comes', async () => {
    const page = await browser.open({ url: server().url, expected: /status of 500/ })
    const mend = await failing(page, /\/questions$/)
    await startRun(page, 'Ask me', { script: 'asking', mode: 'normal' })
    const failed = page.getByRole('alert').filter({ hasText: 'The disk is full' })
    await failed.waitFor()
    await mend()
    await failed.getByRole('button', { name: 'Try again' }).click()
    await question(page, 'notes.txt').waitFor()
    await failed.waitFor({ state: 'detached' })
    // What is known of it stays when it cannot be asked for again.
    await failing(page, /\/questions$/)
    await failed.waitFor()
    expect(await question(page, 'notes.txt').count()).toBe(1)
  })

  it('a transcript says that it stands still, and goes on when there is more', async () => {
    const { cwd, url } = server()
    const page = await browser.open({ url, expected: /status of 500/ })
    await startRun(page, 'Hold on', { script: 'held', mode: 'auto' })
    await agentRow(page, 'root').click()
    const panel = page.getByRole('complementary', { name: 'Agent root' })
    await panel.getByRole('tab', { name: 'Transcript' }).click()
    await panel.getByText('under way').waitFor()
    const mend = await failing(page, /\/agents\/root\/events\?/)
    release(cwd, 'go')
    const failed = panel.getByRole('alert').filter({ hasText: 'The disk is full' })
    await failed.waitFor()
    expect(await panel.getByText('under way').count()).toBe(1)
    await mend()
    await failed.getByRole('button', { name: 'Try again' }).click()
    await panel.getByText('It went on.').waitFor()
    expect(await failed.count()).toBe(0)
  })
})

describeInBrowser('an agent that is opened', (browser) => {
  it('gives the focus back to the tree, and leads to its question, which is in one place', async () => {
    const page = await browser.open({ url: server().url })
    await startRun(page, 'Ask me once', { script: 'asking', mode: 'normal' })
    await question(page, 'notes.txt').waitFor()
    // What is heard is one sentence, not the whole card.
    expect(await page.getByRole('status').filter({ hasText: 'asks to use' }).innerText()).toBe(
      'root asks to use write_file.',
    )
    await agentRow(page, 'root').click()
    const panel = page.getByRole('complementary', { name: 'Agent root' })
    await panel.getByRole('button', { name: 'See the question' }).click()
    await focused(page, 'article')
    expect(await page.getByRole('button', { name: 'Allow once' }).count()).toBe(1)
    await panel.getByRole('button', { name: /^Close the agent/ }).click()
    await panel.waitFor({ state: 'detached' })
    await focused(page, '[role=treegrid]')
  })

  it('is a dialog on a phone, from which the focus does not get out', async () => {
    const page = await browser.open({ url: server().url, context: PHONE })
    await startRun(page, 'Ask me on the way', { script: 'asking', mode: 'normal' })
    await question(page, 'notes.txt').waitFor()
    await agentRow(page, 'root').click()
    const sheet = page.getByRole('dialog', { name: 'Agent root' })
    await sheet.getByRole('tab', { name: 'Contract' }).waitFor()
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press('Tab')
      const where = await page.evaluate(`document.activeElement.closest('main [role=treegrid], main article') !== null`)
      expect(where).toBe(false)
    }
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    await focused(page, '[role=treegrid]')
    await agentRow(page, 'root').click()
    await sheet.getByRole('button', { name: 'See the question' }).click()
    await sheet.waitFor({ state: 'detached' })
    await focused(page, 'article')
    await question(page, 'notes.txt').getByRole('button', { name: 'Deny' }).click()
    await runStatus(page, 'running').waitFor()
  })
})
