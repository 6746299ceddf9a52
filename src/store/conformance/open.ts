import { onTestFinished } from 'vitest'
import type { Subject } from './fixtures.js'

export type Open = () => Promise<Omit<Subject, 'close'>>

/** Opens for the length of one test. */
export function forOneTest(open: () => Promise<Subject>): Open {
  return async () => {
    const subject = await open()
    onTestFinished(() => subject.close())
    return subject
  }
}
