import { expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { retinue } from '../support/cli.js'
import { serving } from '../support/serving.js'
import { tokenOf, usersConfig } from '../support/window-place.js'
import { model, release, windowProject } from '../support/window-project.js'
import { agentRow, question, runStatus, runsOf, startRun, told } from '../support/window-steps.js'

describeInBrowser('the window when its server', (browser) => {
  it('is killed says so, and goes on with the run when there is another', async () => {
    const cwd = windowProject()
    const first = await serving(cwd)
    const page = await browser.open({
      url: first.url,
      expected: /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|ERR_CONNECTION_RESET/,
    })
    const run_id = await startRun(page, 'Go on whatever happens', { script: 'held', mode: 'auto' })
    await agentRow(page, 'root').getByText('until [ -e go ]').waitFor()
    await first.kill()
    await page.getByRole('alert').getByText('The server cannot be reached').waitFor()
    expect(await agentRow(page, 'root').count()).toBe(1)

    const second = await serving(cwd)
    // The new address: another port, and another key.
    const again = await browser.open({ url: second.url })
    await again.getByRole('link', { name: 'Go on whatever happens' }).click()
    await runStatus(again, 'interrupted').waitFor()
    await agentRow(again, 'root').getByText('interrupted').last().waitFor()
    expect(await again.getByText(/^(live|at work .*)$/).count()).toBe(0)
    release(cwd, 'go')
    await again.getByRole('button', { name: 'Resume' }).click()
    await runStatus(again, 'completed').waitFor()
    expect(await runsOf(cwd)).toMatchObject([{ run_id, status: 'closed', outcome: 'completed' }])
    // It took all the time since it was created, that in which nobody worked on it too, as the terminal says.
    const [time] = await again
      .locator('header dl > div', { has: again.getByText('time', { exact: true }) })
      .locator('dd')
      .allInnerTexts()
    expect(await told(cwd, 'show', run_id)).toContain(`, ${time}\n`)
    // It wrote in the folder itself.
    expect(await again.getByText('Diff', { exact: true }).count()).toBe(0)
  })

  it('is opened without its key says what to do', async () => {
    const server = await serving(windowProject())
    const page = await browser.open({ url: server.address, expected: /401/ })
    await page.getByRole('heading', { name: 'This window has no key' }).waitFor()
    await page.getByText('the key is behind the #').waitFor()
    const come = async (token: string) => {
      await page.getByLabel('Your token').fill(token)
      await page.getByRole('button', { name: 'Come in' }).click()
    }
    await come('not-the-token')
    await page.getByRole('alert').waitFor()
    await come(server.token ?? '')
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'This window has no key' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'This window has no key' }).waitFor()
  })

  it('has a key, keeps it out of the address and away from scripts', async () => {
    const server = await serving(windowProject())
    const page = await browser.open({ url: server.url })
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    expect(page.url()).toBe(`${server.address}/`)
    const kept = await page.evaluate(
      `JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML])`,
    )
    expect(kept).not.toContain(server.token)
    expect(JSON.parse(String(kept))[0]).toBe('')
  })

  it('knows who looks as a viewer lets them look, and offers nothing else', async () => {
    const cwd = windowProject({ config: usersConfig({ vera: 'viewer', olaf: 'operator' }) })
    const ended = await retinue(['run', 'Have a look', '-p', '--model', model('clamped'), '--mode', 'auto'], { cwd })
    expect(ended.code).toBe(0)
    const server = await serving(cwd)
    const at = (who: string) => `${server.address}/#token=${tokenOf(who)}`
    const olaf = await browser.open({ url: at('olaf') })
    await startRun(olaf, 'Ask before you write', { script: 'asking', mode: 'normal' })
    await question(olaf, 'notes.txt').getByRole('button', { name: 'Allow once' }).waitFor()

    const vera = await browser.open({ url: at('vera') })
    await vera.getByText('viewer').waitFor()
    await vera.getByRole('link', { name: 'Ask before you write' }).waitFor()
    expect(await vera.getByRole('button', { name: 'New run' }).count()).toBe(0)
    await vera.keyboard.press('n')
    expect(await vera.getByRole('dialog').count()).toBe(0)
    await vera.getByRole('link', { name: 'Ask before you write' }).click()
    await question(vera, 'notes.txt').getByText('Your role is viewer: an operator can answer this.').waitFor()
    for (const name of ['Allow once', 'Deny', 'Cancel', 'Resume', 'Pause']) {
      expect([name, await vera.getByRole('button', { name, exact: true }).count()]).toEqual([name, 0])
    }
    await vera.goto(`${server.address}/agents/registry`)
    await vera.getByText('Changing the registry needs the role operator or more, and vera is viewer.').waitFor()
    expect(await vera.getByRole('button', { name: 'See changes and save …' }).count()).toBe(0)

    await question(olaf, 'notes.txt').getByRole('button', { name: 'Deny' }).click()
    await question(olaf, 'secret.txt').getByLabel('Note that goes with a no').fill('Not that one')
    await question(olaf, 'secret.txt').getByRole('button', { name: 'Deny' }).click()
    await runStatus(olaf, 'completed').waitFor()
  })
})
