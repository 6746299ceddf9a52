// Run before the tests: installs bubblewrap where it is missing and that may be done, and otherwise says so.
import { ensure, notice, run } from './installing.mjs'

const isLinux = process.platform === 'linux'

if (!ensure('bubblewrap', () => isLinux && run('bwrap', ['--version'], 10_000).ok)) {
  notice(
    'The sandbox tests are NOT run: there is no bubblewrap (bwrap) here.',
    isLinux
      ? 'Install it: apt-get install bubblewrap (or dnf, pacman -S, apk add).'
      : 'It needs Linux: run the tests in a virtual machine or on CI as well.',
  )
}
