import type { CommandWord } from '../../domain/index.js'
import { FILTER_VALUES, FILTERS } from './programs.js'
import { isPlainSed } from './scripts.js'

const SPEAKS = new Set('echo true false : pwd exit return break continue shift sleep'.split(' '))

/**
 * Whether a command does nothing by itself: it says something, moves inside the workspace, or, `after` another one,
 * passes on a part of what that one prints. Files it would name do not count: whoever reads one needs a yes.
 */
export function onlyPasses(name: string, args: readonly CommandWord[], after: boolean): boolean {
  if (SPEAKS.has(name)) return true
  if (name === 'cd') return args.length === 1 && isInside(args[0])
  if (!after) return false
  if (name === 'sed') return isPrinting(args)
  const filter = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined
  if (!filter) return false
  const valued = Object.hasOwn(FILTER_VALUES, name) ? FILTER_VALUES[name] : undefined
  // With -e the pattern is an option's value, so that every operand, also one before it, would be a file.
  const given = name === 'grep' && args.some((arg) => typeof arg === 'string' && /^-[a-zA-Z]*e$/.test(arg))
  let operands = given ? 0 : filter.operands
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]
    if (typeof arg !== 'string') return false
    if (arg === '--') return false
    if (/^-./.test(arg)) {
      if (!filter.options.test(arg)) return false
      if (valued?.test(arg)) i++
      if (name === 'grep' && /^-[a-zA-Z]*e$/.test(arg)) i++
    } else if (--operands < 0) return false
  }
  return true
}

function isPrinting(args: readonly CommandWord[]): boolean {
  const [first, second, ...more] = args
  if (first === '-n' || first === '-E' || first === '-nE')
    return typeof second === 'string' && more.length === 0 && isPlainSed(second)
  return typeof first === 'string' && !first.startsWith('-') && second === undefined && isPlainSed(first)
}

/** A folder that is plainly below the one the command starts in. */
export function isInside(path: CommandWord | undefined): boolean {
  return typeof path === 'string' && path !== '' && !/^[-~/]/.test(path) && !path.split('/').includes('..')
}
