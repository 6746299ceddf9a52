/**
 * What the login gave besides the cookie. Browsers send cookies to every server of the same host, whatever its port, so
 * what changes something needs this one too; what is kept here, the pages of other ports do not get to see.
 */
const NAME = 'retinue-key'

export function keepKey(key: string): void {
  localStorage.setItem(NAME, key)
}

export function keyHeader(): Record<string, string> {
  const key = localStorage.getItem(NAME)
  return key === null ? {} : { 'x-retinue-key': key }
}
