import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { StoredEvent } from '../../src/index.js'
import { describeInBrowser } from '../support/browser.js'
import { ended, lines, start } from '../support/cli.js'
import { call, serving } from '../support/serving.js'
import { model, release, windowProject } from '../support/window-project.js'
import { agentRow, runStatus, told } from '../support/window-steps.js'

/** Writes down every event that the page gets, in the order in which it gets them. */
const RECORD = `window.__received = [];
window.EventSource = class extends EventSource {
  constructor(...given) {
    super(...given)
    this.addEventListener('events', ({ data, lastEventId }) => {
      const events = JSON.parse(data)
      window.__received.push(...events.map(({ position }) => position))
      window.__last = [events.length, Number(lastEventId)]
    })
  }
}`

const received = (page: Page) => page.evaluate('window.__received') as Promise<number[]>

describeInBrowser('two browsers and a terminal on one run of 200 agents', (browser) => {
  it('each see every event once and in order, also when one of them is away for a while', async () => {
    const cwd = windowProject()
    const server = await serving(cwd)
    const begun = await call<{ run_id: string }>(server, 'POST', '/runs', {
      ...{ task: 'Count every slate', model: model('wide'), mode: 'auto' },
    })
    const { run_id } = begun.body
    const terminal = start(['watch', run_id, '--json'], { cwd })
    terminal.stdin.end()
    const watched = ended(terminal)
    const [one, two] = await Promise.all([
      browser.open({ url: server.url, first: RECORD }),
      browser.open({ url: server.url, first: RECORD }),
    ])
    for (const page of [one, two]) {
      await page.getByRole('link', { name: 'Count every slate' }).click()
      await agentRow(page, 'root').waitFor()
    }
    // One comes back in the middle: what it gets after that begins where its first page began.
    await two.reload()
    await agentRow(two, 'root').waitFor()
    release(cwd, 'go')
    for (const page of [one, two]) await runStatus(page, 'completed').waitFor()

    const logged = (lines(await told(cwd, 'show', run_id, '--json')) as StoredEvent[]).map(({ position }) => position)
    expect(logged.length).toBeGreaterThan(2_000)
    expect(lines((await watched).stdout).map((event) => (event as StoredEvent).position)).toEqual(logged)
    expect(await received(one)).toEqual(logged)
    expect(await received(two)).toEqual(logged)
    await one.getByText('200').first().waitFor()
    const figures = await one.getByRole('main').locator('dl').first().innerText()
    expect(figures).toBe(await two.getByRole('main').locator('dl').first().innerText())
    expect(figures).toMatch(/sub-agents\s+200\s+200 completed/)
  })
})
