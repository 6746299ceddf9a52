/** For stores of your own: the suite that every store must pass. Needs vitest. */
export { type Subject, storeConformance } from '../store/conformance.js'
