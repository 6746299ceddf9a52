import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, lchownSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Programs whose names look like `git`, or like nothing. */
const ODD_NAMES = ['gіt', 'ｇit', 'git\u200b', 'g\u00adit', 'git\u0301', 'git\u00a0diff', 'git\u3000diff']
const ODDER_NAMES = ['git\u2028diff', '\u202egit', 'git\r']

const FILES: Record<string, string> = {
  victim: 'alpha\nbeta\n',
  'a.c': 'int main(void) { return 0; }\n',
  '--output=pwned': '',
  'touch.sh': '#!/bin/sh\n/usr/bin/touch pwned\n',
  'rm.sh': '#!/bin/sh\nrm victim\n',
  'touch.awk': 'BEGIN { system("touch pwned") }\n',
  'write.sed': 'w pwned\n',
  'touch.mk': 'x:\n\ttouch pwned\n',
  Makefile: 'Q ?= @\nx:\n\techo x\nquiet:\n\t$(Q)true\nverbose:\n\t$(V)true\ndebug:\n\t$(DEBUG)true\n',
  'd/x': '',
  '0/.gitconfig': '[diff]\n\texternal = touch pwned;:\n',
  'touch.cjs': 'require("fs").writeFileSync("pwned", "")\n',
  'quiet.cjs': '\n',
  curlrc: 'output=pwned\n',
  'package.json': '{ "name": "x", "version": "1.0.0", "scripts": { "quiet": "true" } }\n',
  'bin/git': '#!/bin/sh\n/usr/bin/touch pwned\n',
  'bin/git-x': '#!/bin/sh\ntouch pwned\n',
  'home/.gitconfig': '[diff]\n\texternal = touch pwned;:\n',
  'home/git/config': '[diff]\n\texternal = touch pwned;:\n',
}

/** A folder as the bypasses expect it: a repository with three commits, a change, and files that wait for a use. */
export function prepareFolder(): { base: string; odd: string; copy: (name: string, owner: number | null) => string } {
  const base = mkdtempSync(join(tmpdir(), 'retinue-bypass-'))
  const template = join(base, 'template')
  const odd = join(base, 'odd')
  mkdirSync(odd, { recursive: true })
  for (const name of [...ODD_NAMES, ...ODDER_NAMES]) {
    writeFileSync(join(odd, name), '#!/bin/sh\n/usr/bin/touch pwned\n')
    chmodSync(join(odd, name), 0o755)
  }
  mkdirSync(template)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: template, env: environment(odd), stdio: 'pipe' })
  git('init', '-q', '-b', 'main', '--template=')
  git('config', 'user.name', 'a')
  git('config', 'user.email', 'a@example.org')
  git('config', 'receive.denyCurrentBranch', 'ignore')
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(template, name, '..'), { recursive: true })
    writeFileSync(join(template, name), text)
    if (text.startsWith('#!')) chmodSync(join(template, name), 0o755)
  }
  execFileSync('tar', ['cf', 'a.tar', 'victim'], { cwd: template })
  git('add', '-A')
  git('commit', '-qm', 'one')
  git('init', '-q', '--template=', 'sub')
  git('-C', 'sub', '-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-q', '--allow-empty', '-m', 'zero')
  git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', './sub', 'sub')
  git('commit', '-qm', 'two')
  git('commit', '-q', '--allow-empty', '-m', 'three')
  git('gc', '-q')
  writeFileSync(join(template, 'Makefile'), `${FILES.Makefile}changed:\n\techo changed\n`)
  return {
    base,
    odd,
    copy: (name, owner) => {
      const folder = join(base, name)
      cpSync(template, folder, { recursive: true, verbatimSymlinks: true })
      if (owner !== null) {
        const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
        for (const file of ['.', ...files]) lchownSync(join(folder, file), owner, owner)
      }
      return folder
    },
  }
}

/** What a command gets, as the host would give it, and the odd programs. */
export function environment(odd: string): NodeJS.ProcessEnv {
  return {
    PATH: `${odd}:${process.env.PATH}`,
    HOME: odd,
    LANG: 'C.UTF-8',
    TMPDIR: odd,
    GIT_CONFIG_NOSYSTEM: '1',
    // A test that opens a pager or an editor would wait for it.
    GIT_EDITOR: 'true',
  }
}
