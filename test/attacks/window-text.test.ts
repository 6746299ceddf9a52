import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { describeInBrowser, FOREIGN_NAME } from '../support/browser.js'
import { lines, retinue } from '../support/cli.js'
import { makeProject } from '../support/project.js'
import { call, type Served, serving } from '../support/serving.js'
import { keptIn, OWN_CONFIG } from '../support/window-place.js'

/** Runs where it is taken for markup. `where` tells one from the other, and must be seen. */
const mark = (where: string) =>
  `${where} <img src=x onerror="window.__owned='${where}'"><script>window.__owned='${where}'</script>`

/** Turns what comes after it around, or is not seen at all. */
const HIDING = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u
const said = (where: string) => `${mark(where)} \u202etxt.exe\u2066 a\u200bb\ufeff\u{e0041}`

/** What Markdown could become. */
const MARKDOWN = `${said('markdown')}

[a link](javascript:window.__owned='link') <javascript:window.__owned='auto'>

![a picture](http://${FOREIGN_NAME}/pixel.png)

<iframe srcdoc="<script>parent.__owned='frame'</script>"></iframe> <svg onload="window.__owned='svg'">

<a href="data:text/html,<script>opener.__owned='data'</script>" target="_blank">data</a>

| table ${mark('cell')} |
| --- |
| <style>body { display: none }</style> |

\`\`\`html
${mark('code')}
\`\`\`
`

const FILE = '<img src=x onerror=window.__owned=1>.md'

const SCRIPT = {
  agents: {
    root: [
      { reasoning: said('reasoning'), text: said('between'), calls: [{ read_file: { path: FILE } }] },
      { calls: [{ write_file: { path: `written ${FILE}`, content: said('written') } }] },
      { calls: [{ spawn_agent: { task: said('sub-task'), profile: 'evil' } }] },
      { calls: [{ run_command: { command: `echo "${said('output').replaceAll('"', "'")}"` } }] },
      { text: MARKDOWN },
    ],
    'a*': [{ text: MARKDOWN }],
  },
}

const PLAN = {
  version: 1,
  goal: said('goal'),
  assumptions: [said('assumption')],
  steps: [{ id: 'one', title: said('step'), description: said('description'), owns: ['one.txt'] }],
}
const PLAN_SCRIPT = {
  agents: { 'a*': [{ calls: [{ write_file: { path: 'one.txt', content: 'one' } }] }, { text: MARKDOWN }] },
}

/** Markdown that whoever takes it apart is busy with for minutes, or fails at. */
const HEAVY: [name: string, text: string][] = [
  ['quotes', '>'.repeat(5_000)],
  ['lists', Array.from({ length: 1_000 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n')],
  ['one-line-list', `${'- '.repeat(5_000)}a`],
  ['emphasis', `${'*'.repeat(20_000)}a${'*'.repeat(20_000)}`],
  ['paragraphs', 'A **few** words.\n\n'.repeat(17_000)],
]
const END = 'This is the end of it.'

function scriptOf(text: string): string {
  return JSON.stringify({ agents: { root: [{ text }] } })
}

/** A folder in which everything that a stranger could have written is an attack, with runs that have met it. */
async function hostilePlace(): Promise<{ cwd: string; run_id: string; plan_id: string }> {
  const cwd = makeProject(
    {
      ...{ 's.yaml': JSON.stringify(SCRIPT), 'p.yaml': JSON.stringify(PLAN_SCRIPT), 'plan.yaml': JSON.stringify(PLAN) },
      [FILE]: said('content'),
      'retinue.yaml': JSON.stringify({ profiles: { evil: { description: mark('profile') } } }),
      [OWN_CONFIG]: 'model: scripted/s.yaml\n',
    },
    { git: true },
  )
  const done = async (...args: string[]) => {
    const end = await retinue(args, { cwd })
    if (end.code !== 0) throw new Error(`${args[0]}: ${end.stderr}${end.stdout}`)
    return end.stdout
  }
  await done('run', said('task'), '-p', '--mode', 'dangerous')
  await done('plan', 'run', 'plan.yaml', '-p', '--mode', 'auto', '--model', 'scripted/p.yaml')
  await done('agents', 'register', '@evil', 'evil', mark('handle'), '--tag', 'x')
  const runs = lines(await done('runs', '--json')) as { run_id: string; plan: boolean }[]
  const id = (plan: boolean) => runs.find((run) => run.plan === plan)?.run_id ?? ''
  return { cwd, run_id: id(false), plan_id: id(true) }
}

const CLOSED = 'aside [role=tabpanel] :is(details:not([open]) > summary, button[aria-expanded=false])'

/** Opens all that can be opened on a page, and gives the text that was seen meanwhile. */
async function everything(page: Page): Promise<string> {
  const seen: string[] = []
  const look = async () => void seen.push(await page.locator('body').innerText())
  await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor({ state: 'detached' })
  await look()
  for (const tab of await page.getByRole('tab').all()) {
    if (!(await tab.isVisible())) continue
    await tab.click()
    await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor({ state: 'detached' })
    // One after the other: what is open is no longer among those that are closed.
    const closed = page.locator(CLOSED).first()
    for (let opened = 0; opened < 12 && (await closed.isVisible()); opened++) await closed.click()
    await look()
  }
  return seen.join('\n')
}

const owned = (page: Page) => page.evaluate('window.__owned')

describeInBrowser('text of strangers in the window', (browser) => {
  it('is text, wherever it is shown', async () => {
    const { cwd, run_id, plan_id } = await hostilePlace()
    const server = await serving(cwd)
    // Some things are not there, such as the diff of a run that has no tree of its own: the page says so.
    const page = await browser.open({ url: server.url, expected: /status of 40[04]/ })
    const visit = async (path: string, ...expected: string[]) => {
      await page.goto(`${server.address}${path}`)
      const seen = await everything(page)
      const missing = expected.filter((where) => !seen.includes(`${where} <img src=x`))
      expect({ path, missing, owned: await owned(page) }).toEqual({ path, missing: [], owned: undefined })
      expect({ path, hiding: HIDING.exec(seen) }).toEqual({ path, hiding: null })
      // Nothing of it has become an element: none of our pages has these.
      const elements =
        'iframe, object, embed, [onerror], [onload], a[href^="javascript:"], a[href^="data:"], img[src="x"]'
      expect({ path, elements: await page.locator(elements).count() }).toEqual({ path, elements: 0 })
    }
    await page.getByRole('main').getByText('task <img').first().waitFor()
    await visit('/', 'task', 'goal')
    await visit(`/runs/${run_id}`, 'task')
    await visit(`/runs/${run_id}/agents/root`, 'task', 'content', 'output', 'markdown', 'cell', 'code')
    await visit(`/runs/${run_id}/agents/a1`, 'sub-task', 'markdown')
    await visit(`/runs/${plan_id}`, 'goal')
    await visit(`/runs/${plan_id}/plan`, 'goal', 'step')
    await visit('/agents', 'profile', 'handle')
    await visit('/cost')
    await visit(`/${encodeURIComponent(mark('path'))}`)
    await visit(`/runs/${encodeURIComponent(mark('id'))}`)
  })

  it('does not take the window away, however long or deep it is', async () => {
    const cwd = makeProject({
      ...Object.fromEntries(HEAVY.map(([name, text]) => [`${name}.yaml`, scriptOf(`${text}\n\n${END}`)])),
      [OWN_CONFIG]: 'model: scripted/quotes.yaml\n',
    })
    for (const [name] of HEAVY) {
      const { code } = await retinue(['run', name, '-p', '--model', `scripted/${name}.yaml`], { cwd })
      expect([name, code]).toEqual([name, 0])
    }
    const page = await browser.open({ url: (await serving(cwd)).url })
    for (const [name] of HEAVY) {
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('main').getByRole('button', { name: 'Report' }).click()
      // The end of it is there, whatever was made of the rest, and the window answers.
      await page.getByRole('tabpanel').getByText(END).waitFor({ timeout: 100_000 })
      await page.getByRole('tabpanel').getByText('is shown as it was written').waitFor()
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Runs' }).click()
    }
  })

  it('does not look like something else where a person says yes to it', async () => {
    const command = `echo \u202e${'txt.seton mr'}\u202c \u2066; rm\u200b -rf notes # \u{e0041}`
    const script = {
      agents: { root: [{ calls: [{ run_command: { command } }] }, { text: 'Done.' }] },
    }
    const cwd = makeProject({ 's.yaml': JSON.stringify(script), [OWN_CONFIG]: 'model: scripted/s.yaml\n' })
    const server = await serving(cwd)
    const started = await call<{ run_id: string }>(server, 'POST', '/runs', { task: 'Tidy up', mode: 'normal' })
    const page = await browser.open({ url: server.url })
    await page.goto(`${server.address}/runs/${started.body.run_id}`)
    const card = page.getByRole('article').filter({ has: page.getByRole('button', { name: 'Allow once' }) })
    await card.waitFor()
    const shown = await card.innerText()
    expect(shown).toContain('echo �txt.seton mr� �; rm� -rf notes # �')
    expect(HIDING.exec(await page.locator('body').innerText())).toBe(null)
    await card.getByRole('button', { name: 'Deny' }).click()
    await card.waitFor({ state: 'detached' })
  })

  it('the twin: the same runs where it is taken for markup', async () => {
    const page = await browser.open({ url: 'about:blank', expected: /x|foreign/ })
    await page.setContent(mark('twin'))
    expect(await owned(page)).toBe('twin')
  })
})

/** A server that does what it is asked to, without a look at who asks: what ours would be without its guards. */
async function withoutGuards(answer: string): Promise<{ port: number; heard: string[] }> {
  const heard: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      heard.push(`${request.method} ${request.url} ${body}`)
      response.setHeader('content-type', 'text/html').end(answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, heard }
}

/** The strangers' servers go before the page does, which may still want a picture of them for its tab. */
const GONE = 'ERR_(CONNECTION_RESET|CONNECTION_REFUSED|EMPTY_RESPONSE)'

/** A place with a window in which somebody is logged in, in the same profile of the browser as the page of a stranger. */
async function loggedIn(browser: Parameters<Parameters<typeof describeInBrowser>[1]>[0], expected: RegExp) {
  const cwd = makeProject({
    's.yaml': '{"agents":{"root":[{"text":"Done."}]}}',
    [OWN_CONFIG]: 'model: scripted/s.yaml\n',
  })
  const server: Served = await serving(cwd)
  const page = await browser.open({ url: server.url, expected: new RegExp(`${expected.source}|${GONE}`, 'i') })
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  return { server, page }
}

describeInBrowser('pages of strangers beside the window', (browser) => {
  it('cannot post forms to it, with the cookie in the same browser', async () => {
    const { server, page } = await loggedIn(browser, /foreign\.test|40\d|42\d|Cross-Origin|asked http/)
    const naive = await withoutGuards('ok')
    const form = (target: string, type: string) =>
      `<form method="post" enctype="${type}" action="${target}/api/runs">
         <input name='{"task":"owned","x":"' value='"}'><button>go</button></form>`
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      for (const target of [server.address, `http://127.0.0.1:${naive.port}`]) {
        const evil = await withoutGuards(form(target, type))
        await page.goto(`http://${FOREIGN_NAME}:${evil.port}/`)
        await page.getByRole('button').click()
        await page.waitForURL(`${target}/**`)
      }
    }
    expect((await keptIn(server.cwd)).runs).toEqual([])
    // The twin: it is no fault of the forms.
    const posted = naive.heard.filter((request) => request.startsWith('POST'))
    expect(posted[0]).toBe('POST /api/runs {"task":"owned","x":"="}\r\n')
    expect(posted).toHaveLength(3)
  })

  it('cannot ask it anything under a name of their own that leads to this machine', async () => {
    const { server, page } = await loggedIn(browser, /foreign\.test|42\d|asked http|Cross-Origin/)
    const { port } = new URL(server.address)
    const reply = await page.goto(`http://${FOREIGN_NAME}:${port}/`)
    expect(reply?.status()).toBe(421)
    expect(await page.evaluate(`fetch('/api/runs').then(({ status }) => status)`)).toBe(421)
    // The twin: a server that does not look at the name is theirs.
    const naive = await withoutGuards('<p>secrets</p>')
    await page.goto(`http://${FOREIGN_NAME}:${naive.port}/`)
    expect(await page.evaluate(`fetch('/api/runs').then((reply) => reply.text())`)).toBe('<p>secrets</p>')
  })

  it('cannot put it into a frame, nor read it', async () => {
    const { server, page } = await loggedIn(
      browser,
      /frame|foreign\.test|Cross|CORS|ERR_|asked http|Refused|40\d|blocked/i,
    )
    const evil = await withoutGuards(`<iframe src="${server.url}"></iframe>`)
    await page.goto(`http://${FOREIGN_NAME}:${evil.port}/`)
    const texts = await Promise.all(
      page.frames().map((frame) =>
        frame
          .locator('body')
          .innerText()
          .catch(() => ''),
      ),
    )
    expect(texts.join('')).not.toContain('Runs')
    const read = `fetch('${server.address}/api/runs', { credentials: 'include' }).then(() => 'read', () => 'refused')`
    expect(await page.evaluate(read)).toBe('refused')
  })
})
