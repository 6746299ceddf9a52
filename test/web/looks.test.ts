import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { planProject } from '../support/plan-project.js'
import { oneServer } from '../support/serving.js'
import { OWN_CONFIG } from '../support/window-place.js'
import { runsOf, told } from '../support/window-steps.js'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Runs of several kinds, a handle and a pin: every page has something on it. */
const server = oneServer(async (finished) => {
  const script = {
    agents: {
      root: [
        { calls: [{ spawn_agent: { task: 'Look', profile: 'researcher', max_tool_calls: 5000 } }] },
        { text: '# Done\n\n- It is **well**.' },
      ],
      'a*': [{ calls: [{ list_dir: {} }] }, { text: 'Looked.' }],
    },
  }
  const cwd = planProject({ 's.yaml': JSON.stringify(script), [OWN_CONFIG]: 'model: scripted/s.yaml\n' }, finished)
  await told(cwd, 'run', 'Look around', '-p', '--mode', 'auto')
  await told(cwd, 'plan', 'run', 'plan.yaml', '-p', '--mode', 'auto', '--model', 'scripted/run.yaml')
  await told(cwd, 'agents', 'register', '@critic', 'reviewer', 'Finds faults.', '--tag', 'review')
  await told(cwd, 'agents', 'pin', '@critic', '--workspace')
  return cwd
})

/** Every page, by what has to be there before it is looked at. */
async function places(): Promise<[path: string, ready: (page: Page) => Promise<unknown>][]> {
  const runs = await runsOf(server().cwd)
  const id = (plan: boolean) => runs.find((run) => run.plan === plan)?.run_id
  return [
    ['/', (page) => page.getByRole('link', { name: 'Look around' }).waitFor()],
    [`/runs/${id(false)}`, (page) => page.getByRole('link', { name: 'a1', exact: true }).waitFor()],
    [`/runs/${id(false)}/agents/a1`, (page) => page.getByRole('heading', { name: /^Clamped/ }).waitFor()],
    [
      `/runs/${id(true)}/plan`,
      (page) =>
        page
          .getByRole('button', { name: /third note/ })
          .first()
          .waitFor(),
    ],
    ['/agents', (page) => page.getByRole('link', { name: '@critic' }).first().waitFor()],
    ['/agents/show/@critic', (page) => page.getByRole('article', { name: '@critic' }).waitFor()],
    [
      '/agents/pins',
      (page) =>
        page
          .getByText(/^\S in effect$/)
          .first()
          .waitFor(),
    ],
    ['/agents/registry', (page) => page.getByText('"@critic"').waitFor()],
    ['/cost', (page) => page.getByRole('region', { name: 'By run' }).waitFor()],
    ['/nowhere', (page) => page.getByRole('heading', { name: 'There is no such page' }).waitFor()],
  ]
}

type Violation = { id: string; nodes: { target: string[]; failureSummary: string }[] }

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const found = (await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] })`,
  )) as { violations: Violation[]; passes: { id: string }[] }
  // Whether it has looked at anything: contrast is what a theme gets wrong first.
  expect(found.passes.map(({ id }) => id)).toContain('color-contrast')
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
  )
}

describeInBrowser('every page', (browser) => {
  it.each(['light', 'dark'] as const)('can be used by everybody, in %s', async (colorScheme) => {
    const { address, url } = server()
    const page = await browser.open({ url, context: { colorScheme, reducedMotion: 'reduce' } })
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    const found: Record<string, string[]> = {}
    for (const [path, ready] of await places()) {
      await page.goto(`${address}${path}`)
      await ready(page)
      const here = await violations(page)
      if (here.length > 0) found[path] = here
    }
    await page.goto(address)
    await page.getByRole('button', { name: 'New run' }).click()
    await page.getByRole('dialog').waitFor()
    const dialog = await violations(page)
    if (dialog.length > 0) found.dialog = dialog
    expect(found).toEqual({})
  })

  it('fits on a phone: nothing has to be scrolled sideways', async () => {
    const { address, url } = server()
    const page = await browser.open({
      url,
      context: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
    })
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    const wide: Record<string, unknown> = {}
    for (const [path, ready] of await places()) {
      await page.goto(`${address}${path}`)
      await ready(page)
      const width = await page.evaluate('document.scrollingElement.scrollWidth')
      if (width !== 360) wide[path] = width
    }
    expect(wide).toEqual({})
  })

  it('the first load takes less than 250 kB, and the editor comes only with its page', async () => {
    const { address, url } = server()
    const page = await browser.open({ url: 'about:blank', expected: /^asked / })
    const sizes: Promise<{ path: string; bytes: number }>[] = []
    page.on('requestfinished', (request) => {
      const { pathname } = new URL(request.url())
      if (pathname.endsWith('/live')) return
      const size = request
        .sizes()
        .then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize)
      sizes.push(size.then((bytes) => ({ path: pathname, bytes })))
    })
    await page.goto(url)
    await page.getByRole('link', { name: 'Look around' }).waitFor()
    await page.waitForLoadState('load')
    const first = await Promise.all(sizes)
    const sum = first.reduce((sum, { bytes }) => sum + bytes, 0)
    expect(first.filter(({ path }) => path.endsWith('.js')).length).toBeGreaterThan(0)
    expect(sum).toBeLessThan(250_000)
    expect(sum).toBeGreaterThan(20_000)
    expect(first.filter(({ path }) => path.includes('registry'))).toEqual([])
    sizes.length = 0
    await page.goto(`${address}/agents/registry`)
    await page.getByText('"@critic"').waitFor()
    expect((await Promise.all(sizes)).some(({ path }) => /registry-view.*\.js$/.test(path))).toBe(true)
  })
})
