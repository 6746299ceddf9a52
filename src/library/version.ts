/** Set from package.json when the package is built; `dev` when the sources are run as they are. */
declare const RETINUE_VERSION: string | undefined

export const VERSION: string = typeof RETINUE_VERSION === 'string' ? RETINUE_VERSION : 'dev'
