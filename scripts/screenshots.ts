/** Takes the pictures of docs/images: every page of the window with real runs, in light and dark. `npm run screenshots` */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Browser, chromium, type Page, type Route } from 'playwright-core'
import { findBrowser } from './find-browser.mjs'
import { bakery, REGISTRY } from './screenshots-project.js'

const IMAGES = resolve('docs/images')
const BIN = resolve('bin/retinue.js')

/** What one is to see. `wide`: as on a desk, `narrow`: as on a phone. */
type Picture = {
  name: string
  path: (ids: Ids) => string
  /** What is done, and waited for, before it is taken. */
  ready: (page: Page) => Promise<unknown>
  narrow?: boolean
}
type Ids = { running: string; plan: string }

const PICTURES: Picture[] = [
  { name: 'runs', path: () => '/', ready: (page) => page.getByRole('row').nth(4).waitFor(), narrow: true },
  {
    name: 'run',
    path: ({ running }) => `/runs/${running}`,
    ready: async (page) => {
      await page.getByRole('row', { name: /a32/ }).or(page.getByText('30 s')).first().waitFor()
    },
    narrow: true,
  },
  {
    name: 'run-contract',
    path: ({ running }) => `/runs/${running}/agents/a1`,
    ready: (page) => page.getByRole('heading', { name: /Clamped/ }).waitFor(),
  },
  {
    name: 'run-transcript',
    path: ({ running }) => `/runs/${running}/agents/a2`,
    ready: (page) => page.getByRole('tab', { name: 'Transcript' }).click(),
  },
  {
    name: 'plan',
    path: ({ plan }) => `/runs/${plan}/plan`,
    ready: (page) => page.getByRole('button', { name: /^Make the tests pass.*running/ }).waitFor(),
  },
  {
    name: 'agents',
    path: () => '/agents/show/@critic',
    ready: (page) => page.getByRole('article', { name: '@critic' }).waitFor(),
  },
  { name: 'pins', path: () => '/agents/pins', ready: (page) => page.getByText('in effect').first().waitFor() },
  {
    name: 'registry',
    path: () => '/agents/registry',
    ready: async (page) => {
      // With a fault, as one sees it while typing.
      await page.getByText('"profileId": "executor"').click()
      await page.keyboard.press('End')
      await page.keyboard.type(' "budget": 5,')
      await page.getByText('Fault in line').first().waitFor()
    },
  },
  { name: 'cost', path: () => '/cost', ready: (page) => page.getByRole('table').first().waitFor() },
]

const above = realpathSync(mkdtempSync(join(tmpdir(), 'retinue-')))
const cwd = join(above, 'bakery')
mkdirSync(cwd)
const env = { PATH: process.env.PATH ?? '', HOME: cwd, XDG_CONFIG_HOME: join(cwd, '.config') }
const retinue = (...args: string[]) => {
  try {
    return execFileSync(process.execPath, [BIN, ...args], { cwd, env, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    // Some of these runs are to fail; whether they are there is seen in the pictures.
    return (error as { stdout: string }).stdout
  }
}
const children: ChildProcess[] = []

/** Runs as they are in a folder that is in use for a while: completed, failed, planned, and one that is at work. */
function makeRuns(): void {
  const run = (script: string, task: string, ...more: string[]) =>
    retinue('run', task, '-p', '--model', `scripted/.scripts/${script}.json`, ...more)
  for (const { handle, profile, description, tags } of REGISTRY) {
    retinue('agents', 'register', handle, profile, description, ...tags.flatMap((tag) => ['--tag', tag]))
  }
  run('summary', 'Say in two sentences what this project does', '--mode', 'plan')
  run('research', 'Find out how errors are handled in src/, and what is lost', '--mode', 'auto')
  run('failing', 'Translate the messages of the till into French', '--mode', 'auto')
  run('budget', 'Rename price to amount everywhere', '--mode', 'auto', '--max-turns', '3')
  run('summary', 'Is there a test for an empty cart?', '--mode', 'plan')
  retinue('agents', 'pin', 'researcher', '--workspace')
  retinue('agents', 'pin', '@critic', '--user')
}

function start(...args: string[]) {
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return child
}

async function serve(): Promise<{ url: string; address: string; token: string }> {
  const [line] = await once(createInterface(start('serve', '--json', '--port', '0').stdout), 'line')
  return JSON.parse(line)
}

/** One that is under way while the pictures are taken: 36 sub-agents, and a question. */
async function startRun({ address, token }: { address: string; token: string }): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({
    task: 'Move every module of the shop to the new price type, one module each, and check the shop as a whole',
    ...{ model: 'scripted/.scripts/migration.json', mode: 'auto', profile: null },
  })
  const started = await fetch(`${address}/api/runs`, { method: 'POST', headers, body })
  const answer = (await started.json()) as { run_id: string }
  if (!started.ok) throw new Error(JSON.stringify(answer))
  const { run_id } = answer
  for (;;) {
    const asked = await fetch(`${address}/api/runs/${run_id}/questions`, { headers })
    const { questions } = (await asked.json()) as { questions: unknown[] }
    if (questions.length > 0) return run_id
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Whose machine it was is nobody's business. */
async function elsewhere(route: Route): Promise<void> {
  const response = await route.fetch()
  const me = (await response.json()) as { principal: object }
  const json = { ...me, folder: '/home/ada/bakery', principal: { ...me.principal, id: 'ada' } }
  await route.fulfill({ response, json })
}

async function take(browser: Browser, at: { url: string; address: string }, ids: Ids): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    for (const size of ['wide', 'narrow'] as const) {
      const viewport = size === 'wide' ? { width: 1440, height: 900 } : { width: 390, height: 844 }
      const context = await browser.newContext({ viewport, colorScheme: theme, reducedMotion: 'reduce' })
      await context.route('**/api/me', elsewhere)
      const page = await context.newPage()
      await page.goto(at.url)
      await page.getByRole('navigation', { name: 'Pages' }).waitFor()
      for (const { name, path, ready } of PICTURES.filter(({ narrow }) => size === 'wide' || narrow)) {
        await page.goto(`${at.address}${path(ids)}`)
        await ready(page)
        await page.evaluate('document.fonts.ready')
        await page.waitForTimeout(700)
        const file = `${name}-${theme}${size === 'narrow' ? '-narrow' : ''}.png`
        await page.screenshot({ path: join(IMAGES, file) })
        console.log(file)
      }
      await context.close()
    }
  }
}

try {
  cpSync('examples/test-driven-development/project', cwd, { recursive: true })
  for (const [name, text] of Object.entries(bakery())) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=You', '-c', 'user.email=you@localhost', ...args], { cwd })
  git('init', '--quiet', '--initial-branch=main')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'The shop')
  mkdirSync(IMAGES, { recursive: true })

  makeRuns()
  start('plan', 'run', 'plan.json', '-p', '--mode', 'auto', '--model', 'scripted/.scripts/plan.json')
  const served = await serve()
  const running = await startRun(served)
  const runs = retinue('runs', '--json')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { run_id: string; plan: boolean })
  const plan = runs.find((run) => run.plan)?.run_id ?? ''
  const executablePath = findBrowser()
  if (executablePath === null) throw new Error('There is no Chromium here: node scripts/ensure-browser.mjs')
  const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
  try {
    await take(browser, served, { running, plan })
  } finally {
    await browser.close()
  }
} finally {
  for (const child of children) {
    child.kill('SIGTERM')
    await once(child, 'close')
  }
  rmSync(above, { recursive: true, force: true })
}
