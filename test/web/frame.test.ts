import { expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { retinue } from '../support/cli.js'
import { oneServer } from '../support/serving.js'
import { model, windowProject } from '../support/window-project.js'

const server = oneServer(async (finished) => {
  const cwd = windowProject({ finished })
  const { code } = await retinue(['run', 'Count the slates\nall of them', '-p', '--model', model('short')], { cwd })
  expect(code).toBe(0)
  return cwd
})

describeInBrowser('the frame around the pages', (browser) => {
  it('has a title for each, and the focus is at its beginning', async () => {
    const page = await browser.open({ url: server().url })
    const focused = () => page.evaluate('document.activeElement.id')
    await page.getByRole('link', { name: 'Count the slates' }).waitFor()
    expect(await page.title()).toBe('Runs · Retinue')
    for (const name of ['Agents', 'Cost', 'Runs']) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      await expect.poll(() => page.title()).toBe(`${name} · Retinue`)
      expect([name, await focused()]).toEqual([name, 'main'])
      expect([name, await page.getByRole('heading', { level: 1 }).count()]).toEqual([name, 1])
    }
    await page.getByRole('link', { name: 'Count the slates' }).click()
    await expect.poll(() => page.title()).toBe('Count the slates · Retinue')
    expect(await focused()).toBe('main')
  })

  it('shows the keys of the runs', async () => {
    const page = await browser.open({ url: server().url })
    await page.getByRole('link', { name: 'Count the slates' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('start a new run').waitFor()
    await page.keyboard.press('Escape')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  it('stays when a page cannot be loaded, and loads it when it can', async () => {
    const page = await browser.open({ url: server().url, expected: /ERR_FAILED|could not be loaded|dynamically/ })
    await page.getByRole('link', { name: 'Count the slates' }).waitFor()
    await page.route('**/assets/cost-page*', (route) => route.abort())
    await page.getByRole('link', { name: 'Cost' }).click()
    await page.getByRole('alert').getByText('The page could not be loaded').waitFor()
    // Other pages are as they were.
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('link', { name: 'Count the slates' }).waitFor()
    await page.getByRole('link', { name: 'Cost' }).click()
    await page.unroute('**/assets/cost-page*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Cost', level: 1 }).waitFor()
  })

  it('says why a key was not taken, and takes it when it can', async () => {
    const { url, address, token } = server()
    const page = await browser.open({ url, expected: /429|401/ })
    await page.getByRole('link', { name: 'Count the slates' }).waitFor()
    const error = { code: 'too_many', message: 'Too many tokens that are none. Try again in 6 seconds.' }
    await page.route('**/api/login', (route) => route.fulfill({ status: 429, json: { error } }))
    await page.goto(`${address}/#token=${token}`)
    await page.getByRole('alert').getByText(`The token was not taken: ${error.message}`).waitFor()
    expect(page.url()).toBe(`${address}/`)
    await page.unroute('**/api/login')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Count the slates' }).waitFor()
  })

  it('says so whenever the key is gone, and goes on when another tab has brought it back', async () => {
    const { url, address, token } = server()
    const page = await browser.open({ url, expected: /401/ })
    await page.getByRole('link', { name: 'Count the slates' }).waitFor()
    await page.context().clearCookies()
    await page.getByRole('link', { name: 'Cost' }).click()
    await page.getByRole('heading', { name: 'This window has no key' }).waitFor()
    expect(await page.getByRole('heading', { name: 'Cost' }).count()).toBe(0)
    const other = await page.context().newPage()
    await other.goto(`${address}/#token=${token}`)
    await other.getByRole('link', { name: 'Count the slates' }).waitFor()
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
    await page.getByRole('heading', { name: 'Cost', level: 1 }).waitFor()
    await page.getByRole('heading', { name: 'This window has no key' }).waitFor({ state: 'detached' })
  })

  it('says that there are too many windows, and goes on when there is room', async () => {
    const page = await browser.open({ url: server().url, expected: /503/ })
    await page.getByRole('link', { name: 'Count the slates' }).waitFor()
    const error = { code: 'busy', message: 'Too many streams' }
    await page.route('**/api/runs/live', (route) => route.fulfill({ status: 503, json: { error } }))
    await page.reload()
    await page.getByRole('heading', { name: 'Too many windows are open' }).waitFor()
    await page.unroute('**/api/runs/live')
    await page.getByRole('link', { name: 'Count the slates' }).waitFor()
    await page.getByRole('status').getByText('live', { exact: true }).waitFor()
  })

  it('shows what a new run was refused for', async () => {
    const page = await browser.open({ url: server().url, expected: /400/ })
    await page.getByRole('button', { name: 'New run' }).click()
    const dialog = page.getByRole('dialog', { name: 'New run' })
    await dialog.getByLabel('Task').fill('Count them')
    await dialog.getByLabel('Model', { exact: true }).fill('nobody/knows-it')
    await dialog.getByRole('button', { name: 'Start the run' }).click()
    await dialog
      .getByText(/nobody/)
      .last()
      .waitFor()
  })
})
