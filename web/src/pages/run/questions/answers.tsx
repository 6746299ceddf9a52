import { type FormEvent, useId, useState } from 'react'
import { grantInWords, printable } from '#domain'
import type { GivenAnswer } from '#wire'
import { Button } from '../../../parts/button'
import type { Asked } from './question-card'
import styles from './questions.module.css'

type Given<K extends 'permission' | 'question' | 'approval'> = {
  question: Asked<K>
  send: (answer: GivenAnswer) => void
  /** It was answered and waits to be taken. */
  busy: boolean
}

export function PermissionAnswer({ question, send, busy }: Given<'permission'>) {
  const { agent_id, call_id, grant } = question
  const [note, setNote] = useState('')
  const base = { kind: 'permission', agent_id, call_id } as const
  return (
    <div className={styles.answers}>
      <Button kind="main" disabled={busy} onClick={() => send({ ...base, answer: 'allow' })}>
        Allow once
      </Button>
      {grant && (
        <Button
          disabled={busy}
          onClick={() => send({ ...base, answer: 'allow', standing: true })}
          className={styles.wrap}
        >
          Allow {printable(grantInWords(grant))} for the rest of this run
        </Button>
      )}
      <Button kind="danger" disabled={busy} onClick={() => send({ ...base, answer: 'deny', ...noted(note) })}>
        Deny
      </Button>
      <Note note={note} setNote={setNote} label="Note that goes with a no" />
    </div>
  )
}

export function ApprovalAnswer({ question, send, busy }: Given<'approval'>) {
  const { agent_id, call_id, step } = question
  const [note, setNote] = useState('')
  const base = { kind: 'approval', agent_id, call_id, step } as const
  return (
    <div className={styles.answers}>
      <Button kind="main" disabled={busy} onClick={() => send({ ...base, answer: 'approve', ...noted(note) })}>
        {step === null ? 'Carry it out' : 'Yes, begin it'}
      </Button>
      <Button disabled={busy} onClick={() => send({ ...base, answer: 'decline', ...noted(note) })}>
        {step === null ? 'Leave it for later' : 'No'}
      </Button>
      <Note note={note} setNote={setNote} label="Note that goes with it" />
    </div>
  )
}

export function QuestionAnswer({ question, send, busy }: Given<'question'>) {
  const { agent_id, call_id, options } = question
  const [text, setText] = useState('')
  const base = { kind: 'question', agent_id, call_id } as const
  const write = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') send({ ...base, text: text.trim() })
  }
  return (
    <>
      {options.length > 0 && (
        <div className={styles.answers}>
          {options.map((option) => (
            <Button
              key={option}
              disabled={busy}
              onClick={() => send({ ...base, text: option })}
              className={styles.wrap}
            >
              {printable(option)}
            </Button>
          ))}
        </div>
      )}
      <form className={styles.answers} onSubmit={write}>
        <input
          className={styles.note}
          aria-label="Your answer"
          placeholder={options.length > 0 ? 'Or in your own words' : 'Your answer'}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button kind="main" type="submit" disabled={busy || text.trim() === ''}>
          Answer
        </Button>
        <Button disabled={busy} onClick={() => send({ ...base, text: null })}>
          Do not answer
        </Button>
      </form>
    </>
  )
}

function noted(note: string): { note?: string } {
  return note.trim() === '' ? {} : { note: note.trim() }
}

function Note({ note, setNote, label }: { note: string; setNote: (note: string) => void; label: string }) {
  const id = useId()
  return (
    <>
      <label className="visually-hidden" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        className={styles.note}
        placeholder={`${label} (optional)`}
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
    </>
  )
}
