import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from './api/client'
import { enter } from './api/session'
import styles from './app.module.css'
import { Button, IconButton } from './parts/button'
import { Empty } from './parts/states'

/** Nobody is known here: how one comes in. */
export function NoKey() {
  const queries = useQueryClient()
  const [token, setToken] = useState('')
  const come = async (event: FormEvent) => {
    event.preventDefault()
    if (await enter(token.trim())) await queries.invalidateQueries()
  }
  return (
    <Empty title="This window has no key">
      <p>
        Open the address that <code>retinue serve</code> printed, all of it: the key is behind the #, and each start of
        the server has a new one. If you have a token of your own, come in with that:
      </p>
      <form className={styles.entrance} onSubmit={come}>
        <input
          type="password"
          autoComplete="off"
          aria-label="Your token"
          placeholder="Your token"
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
        <Button kind="main" type="submit" disabled={token.trim() === ''}>
          Come in
        </Button>
      </form>
    </Empty>
  )
}

/** For those who share a browser: from then on the window has no key. */
export function SignOut() {
  const queries = useQueryClient()
  const leave = async () => {
    await api('/logout', { method: 'POST', body: {} }).catch(() => {})
    await queries.invalidateQueries()
  }
  return (
    <IconButton label="Sign out" onClick={leave}>
      ⎋
    </IconButton>
  )
}
