import { useId, useState } from 'react'
import { Link } from 'wouter'
import { ageInWords, type PinPlace, type PinScope, scopeInWords } from '#domain'
import { at } from '../../../api/client'
import { useMe } from '../../../api/queries'
import { Button } from '../../../parts/button'
import { useNow } from '../../../parts/now'
import { Failure, Loading } from '../../../parts/states'
import { Badge } from '../../../parts/status'
import { type PinView, useAgents, useSessions, useUnpin } from '../data'
import { ladder, pinnedFor, pinnedName, pinsElsewhere, type Rung } from './ladder'
import { sessionName, whyNotPin } from './may-pin'
import { PinDialog } from './pin-dialog'
import styles from './pins.module.css'

/** What is pinned for whom, and which of it counts here. */
export function PinsView() {
  const [session_id, setSession] = useState<string | null>(null)
  const [pinning, setPinning] = useState<PinScope | null>(null)
  const { data: view, error, refetch } = useAgents(session_id)
  const sessions = useSessions().data?.sessions ?? []
  const me = useMe().data
  const unpin = useUnpin()
  const id = useId()
  if (!view || !me) return error ? <Failure below error={error} retry={refetch} /> : <Loading what="pins" />
  const place: PinPlace = { session: session_id, user: me.principal.id, workspace: view.workspace }
  const elsewhere = pinsElsewhere(view.pins, place)
  const said =
    unpin.data && `The pin to ${pinnedName(unpin.data.pin)} ${scopeInWords(unpin.data.scope, null)} is removed.`
  return (
    <div className={styles.page}>
      <div className={styles.intro}>
        <p>
          A pin makes an agent or a profile the one of what you ask for yourself: of the root agents of runs and chat
          messages. The strongest that is there holds. <code>retinue run --agent</code> chooses for one run.
        </p>
        <div className={styles.from}>
          <label htmlFor={id}>As seen from</label>
          <select
            id={id}
            value={session_id ?? ''}
            onChange={(event) => setSession(event.target.value === '' ? null : event.target.value)}
          >
            <option value="">outside of sessions</option>
            {sessions.map((session) => (
              <option key={session.session_id} value={session.session_id}>
                {sessionName(session)}
              </option>
            ))}
          </select>
          <Button kind="main" onClick={() => setPinning('user')}>
            Pin …
          </Button>
        </div>
      </div>
      <ol className={styles.ladder} aria-label="Pins, the strongest first">
        {ladder(view, place).map((rung) => (
          <Step
            key={rung.scope}
            rung={rung}
            has_place={rung.scope !== 'session' || session_id !== null}
            refusal={whyNotPin(me.principal, rung.scope)}
            pin={() => setPinning(rung.scope)}
            unpin={() => unpin.mutate({ scope: rung.scope, session_id })}
            error={unpin.error && unpin.variables?.scope === rung.scope ? unpin.error.message : null}
            busy={unpin.isPending}
          />
        ))}
      </ol>
      <p className={styles.said} role="status">
        {said}
      </p>
      {elsewhere.length > 0 && <Elsewhere pins={elsewhere} place={place} />}
      {pinning !== null && <PinDialog name="" scope={pinning} session_id={session_id} close={() => setPinning(null)} />}
    </div>
  )
}

type StepProps = {
  rung: Rung
  /** Not where it is about sessions and none is chosen. */
  has_place: boolean
  refusal: string | null
  pin: () => void
  unpin: () => void
  error: string | null
  busy: boolean
}

function Step({ rung: { scope, pin: pinned, holds, says }, has_place, refusal, pin, unpin, error, busy }: StepProps) {
  const whom = has_place ? scopeInWords(scope, null) : 'for one session'
  return (
    <li className={styles.step} data-holds={holds} aria-label={`${scope}: ${says}`}>
      <div className={styles.scope}>
        <strong>{scope}</strong>
        <span>{whom}</span>
      </div>
      <div className={styles.what}>
        {pinned && <Pinned pin={pinned} />}
        {pinned && holds && pinned.fault === null && <Badge tone="good">in effect</Badge>}
        {pinned?.fault && <Badge tone="bad">cannot be used</Badge>}
        <p className={styles.why}>{says}</p>
        {pinned?.fault && (
          <p className={styles.refusal}>Cannot be used: {pinned.fault} Pin another profile, or unpin it.</p>
        )}
        {refusal !== null && (
          <p className={styles.why}>
            To pin {whom} {refusal}.
          </p>
        )}
        {error !== null && (
          <p className={styles.refusal} role="alert">
            {error}
          </p>
        )}
      </div>
      <div className={styles.buttons}>
        <Button onClick={pin} disabled={refusal !== null} aria-label={`${pinned ? 'Change the pin' : 'Pin'} ${whom}`}>
          {pinned ? 'Change …' : 'Pin …'}
        </Button>
        {pinned && (
          <Button onClick={unpin} disabled={refusal !== null || busy} aria-label={`Unpin ${whom}`}>
            Unpin
          </Button>
        )}
      </div>
    </li>
  )
}

function Pinned({ pin }: { pin: PinView }) {
  const now = useNow(60_000)
  const name = pinnedName(pin)
  return (
    <p className={styles.pinned}>
      {name === '' ? 'a record that makes no sense' : <Link href={at`/agents/show/${name}`}>{name}</Link>}
      {pin.handle !== null && <span> with the profile {pin.profile_id}</span>}
      <span className={styles.by}>
        by {pin.by},{' '}
        <time dateTime={new Date(pin.at).toISOString()} title={new Date(pin.at).toLocaleString()}>
          {ageInWords(pin.at, now)}
        </time>
      </span>
    </p>
  )
}

/** Of other people, sessions and folders: only those who keep the place see these. */
function Elsewhere({ pins, place }: { pins: PinView[]; place: PinPlace }) {
  return (
    <section className={styles.elsewhere} aria-labelledby="elsewhere-heading">
      <h2 id="elsewhere-heading">For others, and elsewhere</h2>
      <ul>
        {pins.map((pin) => (
          <li key={pin.record_id}>
            <span className={styles.other}>{pinnedFor(pin, place)}</span>
            <Pinned pin={pin} />
            {pin.fault !== null && <p className={styles.refusal}>Cannot be used: {pin.fault}</p>}
          </li>
        ))}
      </ul>
      <p className={styles.why}>None of these is in effect here.</p>
    </section>
  )
}
