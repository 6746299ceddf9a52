import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { proxyTo } from '../support/proxy.js'
import { call, type Served, serving } from '../support/serving.js'
import { tokenOf, usersConfig } from '../support/window-place.js'
import { release, windowProject } from '../support/window-project.js'
import { agentRow, positionsIn, runStatus, startRun } from '../support/window-steps.js'

/** From where on a page has asked for the events of runs, each time that it did. */
function askedFrom(page: Page): number[] {
  const asked: number[] = []
  page.on('request', (request) => {
    const after = /\/live\?after=(\d+)$/.exec(request.url())?.[1]
    if (after !== undefined) asked.push(Number(after))
  })
  return asked
}

async function lastIn(server: Pick<Served, 'address' | 'token'>, run_id: string): Promise<number> {
  const { body } = await call<{ events: { position: number }[] }>(server, 'GET', `/runs/${run_id}/events?limit=500`)
  return body.events.at(-1)?.position ?? 0
}

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

/** A page that was never loaded again has it still. */
const mark = (page: Page) => page.evaluate('window.__same = true')
const isSame = (page: Page) => page.evaluate('window.__same === true')

describeInBrowser('a page that was cut off goes on where it was', (browser) => {
  it('when the stream breaks and the server is there', async () => {
    const cwd = windowProject()
    const server = await serving(cwd)
    const proxy = await proxyTo(server.address)
    const page = await browser.open({
      url: `${proxy.address}/#token=${server.token}`,
      expected: /ERR_INCOMPLETE|ERR_CONNECTION|ERR_EMPTY/,
    })
    const asked = askedFrom(page)
    const run_id = await startRun(page, 'See to the roof', { script: 'growing', mode: 'auto' })
    await mark(page)
    await agentRow(page, 'a1').getByText('until [ -e go ]').waitFor()
    await agentRow(page, 'root').getByText('until [ -e more ]').waitFor()
    const before = await lastIn(server, run_id)
    await expect.poll(() => positionsIn(page)).toEqual(upTo(before))
    proxy.cut()
    release(cwd, 'more')
    await agentRow(page, 'a3.1').getByText('until [ -e go ]').waitFor()
    expect(asked).toEqual([0, before])
    release(cwd, 'go')
    await runStatus(page, 'completed').waitFor()
    expect(await positionsIn(page)).toEqual(upTo(await lastIn(server, run_id)))
    expect(await isSame(page)).toBe(true)
  })

  it('when nobody saw it for a while', async () => {
    const cwd = windowProject()
    const server = await serving(cwd)
    const page = await browser.open({ url: server.url })
    const asked = askedFrom(page)
    const run_id = await startRun(page, 'See to the roof', { script: 'growing', mode: 'auto' })
    await agentRow(page, 'a1').getByText('until [ -e go ]').waitFor()
    await agentRow(page, 'root').getByText('until [ -e more ]').waitFor()
    const before = await lastIn(server, run_id)
    await expect.poll(() => positionsIn(page)).toEqual(upTo(before))

    const left = page.waitForEvent('requestfailed', (request) => request.url().includes('/live?after='))
    await setHidden(page, true)
    await left
    release(cwd, 'more')
    // The sub-agents of the second stage are at work, and a page that holds no connection knows nothing of them.
    await expect.poll(() => lastIn(server, run_id)).toBeGreaterThan(before + 10)
    expect(await positionsIn(page)).toEqual(upTo(before))

    await setHidden(page, false)
    await agentRow(page, 'a3.1').getByText('until [ -e go ]').waitFor()
    expect(asked).toEqual([0, before])
    release(cwd, 'go')
    await runStatus(page, 'completed').waitFor()
    expect(await positionsIn(page)).toEqual(upTo(await lastIn(server, run_id)))
  })

  it('when the server is killed and started again, and its address is opened in the same tab', async () => {
    const cwd = windowProject({ config: usersConfig({ olaf: 'operator' }) })
    const first = await serving(cwd)
    const olaf = { address: first.address, token: tokenOf('olaf') }
    const page = await browser.open({
      url: `${first.address}/#token=${olaf.token}`,
      expected: /ERR_INCOMPLETE|ERR_CONNECTION|ERR_EMPTY|401/,
    })
    const asked = askedFrom(page)
    const run_id = await startRun(page, 'Go on whatever happens', { script: 'held', mode: 'auto' })
    await mark(page)
    await agentRow(page, 'root').getByText('until [ -e go ]').waitFor()
    const before = await lastIn(olaf, run_id)
    await expect.poll(() => positionsIn(page)).toEqual(upTo(before))
    await first.kill()
    await page.getByText('connection lost, trying again').waitFor()

    const second = await serving(cwd, { args: ['--port', new URL(first.address).port] })
    expect(second.address).toBe(first.address)
    // Logins ended with the server: that is said, and nothing is asked for again and again.
    await page.getByRole('heading', { name: 'This window has no key' }).waitFor()
    asked.length = 0
    await page.goto(`${page.url()}#token=${olaf.token}`)
    await runStatus(page, 'interrupted').waitFor()
    expect(await page.getByRole('heading', { name: 'This window has no key' }).count()).toBe(0)
    expect([asked, page.url()]).toEqual([[before], `${first.address}/runs/${run_id}`])
    release(cwd, 'go')
    await page.getByRole('button', { name: 'Resume' }).click()
    await runStatus(page, 'completed').waitFor()
    expect(await positionsIn(page)).toEqual(upTo(await lastIn(olaf, run_id)))
    expect(await isSame(page)).toBe(true)
  })
})

/** As a browser does when another tab is in front. */
async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} })
    document.dispatchEvent(new Event('visibilitychange'))`)
}
