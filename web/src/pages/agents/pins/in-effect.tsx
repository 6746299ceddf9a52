import { Link } from 'wouter'
import { ageInWords } from '#domain'
import type { Agents, Me } from '#wire'
import { at } from '../../../api/client'
import { useNow } from '../../../parts/now'
import { pinnedFor, pinnedName } from './ladder'
import styles from './pins.module.css'

/** What the next run has that asks for nothing else, in a sentence. */
export function InEffect({ view, me }: { view: Agents; me: Me }) {
  const now = useNow(60_000)
  const pin = view.in_effect
  const place = { session: null, user: me.principal.id, workspace: view.workspace }
  if (pin === null) {
    return (
      <p className={styles.effect}>
        Nothing is pinned here: a new run has no profile unless it asks for one. <Link href="/agents/pins">Pins</Link>
      </p>
    )
  }
  const name = pinnedName(pin)
  return (
    <p className={styles.effect} data-fault={pin.fault !== null}>
      {pin.fault === null ? 'A new run has ' : 'New runs fail: '}
      <Link href={at`/agents/show/${name}`}>{name}</Link>
      {pin.handle !== null && pin.fault === null && ` with the profile ${pin.profile_id}`}, pinned{' '}
      {pinnedFor(pin, place)} by {pin.by}, {ageInWords(pin.at, now)}
      {pin.fault === null ? '. ' : `, cannot be used: ${pin.fault} `}
      <Link href="/agents/pins">{pin.fault === null ? 'Pins' : 'Change the pin'}</Link>
    </p>
  )
}
