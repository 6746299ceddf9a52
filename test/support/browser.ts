import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { findBrowser } from '../../scripts/find-browser.mjs'
import { describeWith } from './needed.js'
import type { WhenFinished } from './project.js'

const program = findBrowser()

/** A name that leads to this machine, as the one of an attacker who controls its name server would: see `window` of the attacks. */
export const FOREIGN_NAME = 'foreign.test'

/** A `describe` of tests in a real browser, which all of them share; each page is in a profile of its own. */
export function describeInBrowser(name: string, tests: (browser: InBrowser) => void): void {
  const missing = program === null ? 'there is no Chromium here' : null
  describeWith({ missing, ensure: 'scripts/ensure-browser.mjs' }, name, () => {
    let browser: Browser | null = null
    beforeAll(async () => {
      browser = await launch()
    })
    afterAll(() => browser?.close())
    tests({ open: (options) => openPage(browser as Browser, options) })
  })
}

export type InBrowser = { open: (options: OpenOptions) => Promise<Page> }

export type OpenOptions = {
  url: string
  /** What it may say on its console, or fail with: a server that is gone, a save that is refused. */
  expected?: RegExp
  context?: BrowserContextOptions
  /** Run in the page before anything of it. */
  first?: string
  finished?: WhenFinished
}

function launch(): Promise<Browser> {
  if (program === null) throw new Error('There is no Chromium here: node scripts/ensure-browser.mjs')
  return chromium.launch({
    executablePath: program,
    // Nothing leaves the machine, whatever a page asks for; root may not have Chromium's own sandbox.
    args: [
      `--host-resolver-rules=MAP ${FOREIGN_NAME} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  })
}

/** Violations of the content security policy are on the console too, but not all of them, nor in words that stay. */
const TELL_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('content security policy: ' + event.violatedDirective + ' ' + event.blockedURI))`

/**
 * A page as a person has it. When the test is over, nothing may have gone wrong in it that the test did not expect, and
 * nothing may have been asked of anybody but the server.
 */
async function openPage(browser: Browser, options: OpenOptions): Promise<Page> {
  const { url, expected, finished = onTestFinished } = options
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options.context })
  // Against hanging, not for speed: see vitest.config.ts.
  context.setDefaultTimeout(60_000)
  const faults: string[] = []
  const fault = (text: string) => {
    if (!expected?.test(text)) faults.push(text)
  }
  const { origin } = new URL(url)
  await context.addInitScript(TELL_VIOLATIONS)
  if (options.first !== undefined) await context.addInitScript(options.first)
  context.on('weberror', (error) => fault(`threw: ${error.error().message}`))
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') fault(`console: ${message.text()}`)
  })
  context.on('dialog', (dialog) => {
    fault(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on('request', (request) => {
    const asked = new URL(request.url())
    if (asked.origin !== origin && !/^(data|blob|about):$/.test(asked.protocol)) fault(`asked ${request.url()}`)
  })
  finished(async () => {
    await context.close()
    expect(faults).toEqual([])
  })
  const page = await context.newPage()
  await page.goto(url)
  // It is drawn when the token has been exchanged, or refused: whoever goes elsewhere before that has half a login.
  if (url.includes('#')) await page.getByRole('banner').waitFor()
  return page
}
