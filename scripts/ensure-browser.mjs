// Run before the tests: installs Debian's Chromium where there is none and that may be done, and otherwise says so.
import { findBrowser } from './find-browser.mjs'
import { ensure, notice } from './installing.mjs'

if (process.env.CHROMIUM_PATH && findBrowser() === null) {
  notice(`The browser tests are NOT run: CHROMIUM_PATH is ${process.env.CHROMIUM_PATH}, and that is no program.`)
} else if (!ensure('chromium', () => findBrowser() !== null)) {
  notice(
    'The browser tests are NOT run: there is no Chromium here.',
    'Install it: apt-get install chromium (or dnf, pacman -S, apk add, brew install --cask),',
    'or say with CHROMIUM_PATH where it is.',
  )
}
