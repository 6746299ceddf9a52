import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { lines } from '../support/cli.js'
import { oneServer } from '../support/serving.js'
import { windowProject } from '../support/window-project.js'
import { told } from '../support/window-steps.js'

const server = oneServer(async (finished) => {
  const cwd = windowProject({ finished })
  await told(cwd, 'agents', 'register', '@critic', 'reviewer', 'Finds faults.')
  return cwd
})

const editor = (page: Page) => page.getByRole('region', { name: 'Registry editor' })
const review = (page: Page) => page.getByRole('dialog', { name: 'Save the registry' })

/** Types after the end of the line that has this text. */
async function typeAfter(page: Page, line: string, text: string): Promise<void> {
  await editor(page).getByText(line).click()
  await page.keyboard.press('End')
  await page.keyboard.type(text)
}

async function descriptions(cwd: string): Promise<Record<string, string>> {
  const [view] = lines(await told(cwd, 'agents', '--json')) as { agents: { agentId: string; description: string }[] }[]
  return Object.fromEntries((view?.agents ?? []).map(({ agentId, description }) => [agentId, description]))
}

describeInBrowser('agents in the window', (browser) => {
  it('the registry shows a fault while it is typed, is not saved with it, and is saved without', async () => {
    const { cwd, address, url } = server()
    const page = await browser.open({ url })
    await page.goto(`${address}/agents/registry`)
    await typeAfter(page, '"profileId": "reviewer"', ' "budget": 5,')
    await page.getByRole('region', { name: 'Faults' }).getByText('unknown key "budget"').waitFor()
    await editor(page).getByRole('button', { name: 'See changes and save …' }).click()
    await review(page).getByText('unknown key "budget"').waitFor()
    expect(await review(page).getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
    await review(page).getByRole('button', { name: 'Go on editing' }).click()

    await editor(page).getByRole('button', { name: 'Undo all changes' }).click()
    await editor(page).getByText('no faults').waitFor()
    await editor(page).getByText('"description": "Finds faults."').dblclick()
    await editor(page).getByText('Finds faults.').click()
    await page.keyboard.press('End')
    await page.keyboard.press('Shift+Home')
    await page.keyboard.type('"description": "Finds faults before others do."')
    await editor(page).getByRole('button', { name: 'See changes and save …' }).click()
    await review(page).getByText('Finds faults before others do.').first().waitFor()
    await review(page).getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('The registry is saved as version 2.').waitFor()
    expect(await descriptions(cwd)).toEqual({ '@critic': 'Finds faults before others do.' })
  })

  it('whoever saves second is told, loses nothing, and writes over nobody', async () => {
    const { cwd, address, url } = server()
    const page = await browser.open({ url, expected: /409/ })
    await page.goto(`${address}/agents/registry`)
    await editor(page).getByText('"tags": []').or(editor(page).getByText('"description"')).first().click()
    await page.keyboard.press('Home')
    await page.keyboard.type(' ')
    await told(cwd, 'agents', 'register', '@scout', 'researcher', 'Was faster.')
    await editor(page).getByRole('button', { name: 'See changes and save …' }).click()
    await review(page).getByRole('button', { name: 'Save', exact: true }).click()
    const conflict = page.getByRole('alert', { name: 'The registry was changed meanwhile' })
    await conflict.getByText('− is theirs and + is yours').waitFor()
    expect(Object.keys(await descriptions(cwd)).sort()).toEqual(['@critic', '@scout'])
    await conflict.getByRole('button', { name: 'Take all of theirs' }).click()
    await editor(page).getByText('Was faster.').waitFor()
  })

  it('a pin holds for the terminal as well, and can be taken away', async () => {
    const { cwd, address, url } = server()
    const page = await browser.open({ url })
    await page.goto(`${address}/agents/pins`)
    await page.getByRole('button', { name: 'Pin for this workspace' }).click()
    const dialog = page.getByRole('dialog', { name: 'Pin an agent or a profile' })
    await dialog.getByLabel('Agent or profile').selectOption('@critic')
    await dialog.getByRole('button', { name: 'Pin', exact: true }).click()
    await dialog.getByText('reviewer is pinned for this workspace.').waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
    await page
      .getByRole('listitem', { name: /^workspace: / })
      .getByText(/^\S in effect$/)
      .waitFor()
    expect(await told(cwd, 'agents')).toMatch(/@critic.*workspace|workspace.*@critic/)

    await page.getByRole('button', { name: 'Unpin for this workspace' }).click()
    await page.getByText('The pin to @critic for this workspace is removed.').waitFor()
    expect(await told(cwd, 'agents')).not.toMatch(/@critic.*workspace|workspace.*@critic/)
  })
})
