import { type FormEvent, useId, useState } from 'react'
import { PIN_SCOPES, type PinScope, type Principal, scopeInWords } from '#domain'
import type { Agents } from '#wire'
import { Button } from '../../../parts/button'
import { usePin, useSessions } from '../data'
import { sessionName, sessionsToPinIn, whyNotPin } from './may-pin'
import styles from './pins.module.css'

type Props = {
  view: Agents
  principal: Principal
  initial: { name: string; scope: PinScope; session_id: string | null }
  done: (said: string) => void
}

/** Chooses the profile of what is asked from now on, and for whom. */
export function PinForm({ view, principal, initial, done }: Props) {
  const [name, setName] = useState(initial.name)
  const [scope, setScope] = useState<PinScope>(whyNotPin(principal, initial.scope) === null ? initial.scope : 'user')
  const [session_id, setSession] = useState(initial.session_id)
  const pin = usePin()
  const sessions = useSessions()
  const own = sessionsToPinIn(sessions.data?.sessions ?? [], principal)
  const ids = { name: useId(), session: useId() }
  const is_ready = name !== '' && (scope !== 'session' || session_id !== null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    pin.mutate(
      { scope, session_id, name },
      { onSuccess: ({ pin: { profile_id } }) => done(`${profile_id} is pinned ${scopeInWords(scope, null)}.`) },
    )
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <label htmlFor={ids.name}>Agent or profile</label>
      <select id={ids.name} value={name} onChange={(event) => setName(event.target.value)} required>
        <option value="" disabled>
          Choose …
        </option>
        {view.agents.length > 0 && (
          <optgroup label="Agents">
            {view.agents.map(({ agentId, profileId, fault }) => (
              <option key={agentId} value={agentId} disabled={fault !== null}>
                {agentId} → {profileId}
                {fault === null ? '' : ' (cannot be used)'}
              </option>
            ))}
          </optgroup>
        )}
        <optgroup label="Profiles">
          {view.profiles.map(({ name: profile, fault }) => (
            <option key={profile} value={profile} disabled={fault !== null}>
              {profile}
              {fault === null ? '' : ' (cannot be used)'}
            </option>
          ))}
        </optgroup>
      </select>

      <fieldset className={styles.scopes}>
        <legend>For whom, the strongest first</legend>
        {PIN_SCOPES.map((one) => {
          const refusal = whyNotPin(principal, one)
          return (
            <label key={one} data-off={refusal !== null}>
              <input
                type="radio"
                name="scope"
                value={one}
                checked={scope === one}
                disabled={refusal !== null}
                onChange={() => setScope(one)}
              />
              <span>
                <strong>{one}</strong> <span>{WHOM[one]}</span>
                {refusal !== null && <em> {refusal}</em>}
              </span>
            </label>
          )
        })}
      </fieldset>

      {scope === 'session' && (
        <>
          <label htmlFor={ids.session}>Session</label>
          <select
            id={ids.session}
            value={session_id ?? ''}
            onChange={(event) => setSession(event.target.value)}
            required
          >
            <option value="" disabled>
              Choose …
            </option>
            {own.map((session) => (
              <option key={session.session_id} value={session.session_id}>
                {sessionName(session)}
              </option>
            ))}
          </select>
          {sessions.data && own.length === 0 && (
            <p className={styles.quiet}>
              There is no session here that {principal.id} may pin in: begin one with <code>retinue</code>.
            </p>
          )}
          {sessions.error && <p role="alert">{sessions.error.message}</p>}
        </>
      )}
      {pin.error && (
        <p className={styles.refusal} role="alert">
          {pin.error.message}
        </p>
      )}
      <div className={styles.actions}>
        <Button type="submit" kind="main" disabled={!is_ready || pin.isPending}>
          {pin.isPending ? 'Pinning …' : 'Pin'}
        </Button>
      </div>
    </form>
  )
}

const WHOM: Record<PinScope, string> = {
  session: 'one conversation',
  user: 'you, wherever you ask',
  workspace: 'everybody in this folder',
  global: 'everybody who uses this store',
}
