// Runs a recipe in a fresh copy of its project, as one would run it in a folder of one's own.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const recipes = readdirSync(here).filter((name) => existsSync(join(here, name, 'project')))
const [recipe, ...flags] = process.argv.slice(2)
if (!recipes.includes(recipe) || flags.some((flag) => flag !== '--offline')) {
  console.error(`node examples/run.mjs <recipe> [--offline]\n\nRecipes: ${recipes.join(', ')}`)
  process.exit(2)
}

const folder = join(here, recipe)
const cwd = realpathSync(mkdtempSync(join(tmpdir(), `${recipe}-`)))
cpSync(join(folder, 'project'), cwd, { recursive: true })
const git = (...args) =>
  execFileSync('git', ['-c', 'user.name=You', '-c', 'user.email=you@localhost', ...args], { cwd })
git('init', '--quiet', '--initial-branch=main')
git('add', '--all')
git('commit', '--quiet', '--message', 'Before the recipe')

// Which model is asked is no business of a recipe: this variable names one, otherwise it is the configured one.
const model = flags.includes('--offline') ? `scripted/${join(folder, 'script.yaml')}` : process.env.RETINUE_MODEL
const program = existsSync(join(folder, 'main.mjs'))
  ? [join(folder, 'main.mjs')]
  : [
      ...[join(here, '..', 'bin', 'retinue.js'), 'plan', 'run', join(folder, 'plan.yaml'), '-p', '--mode', 'auto'],
      ...(model ? ['--model', model] : []),
    ]
const env = { ...process.env, ...(model ? { RETINUE_MODEL: model } : {}) }
const { status } = spawnSync(process.execPath, program, { cwd, env, stdio: 'inherit' })
console.error(`\nWhat came of it: ${cwd}`)
process.exit(status ?? 1)
