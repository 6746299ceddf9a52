import { useDeferredValue, useEffect, useId, useMemo, useState } from 'react'
import { isAtLeast } from '#domain'
import type { Me } from '#wire'
import { ApiError } from '../../../api/client'
import { Button } from '../../../parts/button'
import { Dialog } from '../../../parts/dialog'
import { Badge } from '../../../parts/status'
import { type ProfileView, useSaveRegistry } from '../data'
import { Conflict } from './conflict'
import { keepDraft, readDraft, registryText } from './draft'
import { DraftOffer } from './draft-offer'
import { FaultCount, FaultList } from './fault-list'
import { textFaults } from './faults'
import { History } from './history'
import { useLeaving } from './leaving'
import { newAgent } from './new-agent'
import styles from './registry.module.css'
import { Rules } from './rules'
import { SaveDialog } from './save-dialog'
import { useEditor } from './use-editor'

type Text = { version: number; text: string }
type Props = { stored: Text; refetch: () => Promise<void>; profiles: ProfileView[] | null; me: Me }

/** `base`: the version that is being edited. What is stored may be newer; then both are put side by side. */
export function Editing({ stored, refetch, profiles, me }: Props) {
  const may_edit = isAtLeast(me.principal.role, 'operator')
  const [base, setBase] = useState(stored)
  const [text, setText] = useState(stored.text)
  const [offered, setOffered] = useState(() => {
    const draft = may_edit ? readDraft(sessionStorage, me.folder) : null
    return draft?.text === stored.text ? null : draft
  })
  const [reviews, setReviews] = useState(false)
  const [said, setSaid] = useState('')
  const saving = useSaveRegistry()
  const explained_by = useId()
  const { place, editor } = useEditor({
    explained_by,
    text,
    read_only: !may_edit || offered !== null,
    changed: setText,
  })

  const unsaved = text !== base.text
  const theirs = unsaved && stored.version > base.version ? stored : null
  const { leave, stay } = useLeaving(unsaved && offered === null)

  const checked = useDeferredValue(text)
  const faults = useMemo(() => textFaults(checked, profiles), [checked, profiles])
  // With another editor all is shown again: there is one for reading while a draft is offered.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => editor.current?.show(faults, checked), [editor, faults, checked, offered])

  useEffect(() => {
    if (offered !== null || !may_edit) return
    keepDraft(sessionStorage, me.folder, unsaved ? { version: base.version, base: base.text, text } : null)
  }, [offered, may_edit, me.folder, unsaved, base, text])

  // What nobody has changed here follows what others store.
  useEffect(() => {
    if (unsaved || stored.version <= base.version) return
    setBase(stored)
    editor.current?.replace(stored.text)
  }, [editor, unsaved, stored, base.version])

  const their_text = theirs?.text ?? null
  useEffect(() => editor.current?.compareWith(their_text), [editor, their_text])

  const save = async () => {
    try {
      const saved = await saving.mutateAsync({ text, expected_version: base.version })
      // As it was stored: without the prefixes that may be left out.
      const now = { version: saved.version, text: registryText(saved.value) }
      setBase(now)
      editor.current?.replace(now.text)
      setReviews(false)
      setSaid(`The registry is saved as version ${now.version}.`)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) return
      await refetch()
      setReviews(false)
    }
  }
  const takeTheirs = (other: Text) => {
    setBase(other)
    editor.current?.replace(other.text)
    setSaid('Theirs is in the editor. Undo (Ctrl+Z) brings yours back.')
  }
  const addAgent = () => {
    const added = newAgent(text)
    if (added === null) setSaid('Mend the faults first: there is no list of agents to add one to.')
    else editor.current?.insert(added.at, added.text, added.select)
  }

  return (
    <div className={styles.page}>
      {offered !== null && (
        <DraftOffer
          draft={offered}
          stored={stored}
          take={() => {
            setBase({ version: offered.version, text: offered.base })
            setText(offered.text)
            setOffered(null)
          }}
          discard={() => {
            keepDraft(sessionStorage, me.folder, null)
            setOffered(null)
          }}
        />
      )}
      {offered === null && theirs && (
        <Conflict base={base} theirs={theirs} takeTheirs={() => takeTheirs(theirs)} goOn={() => setBase(theirs)} />
      )}
      <div className={styles.columns} hidden={offered !== null}>
        <section className={styles.card} aria-label="Registry editor">
          <header className={styles.bar}>
            <strong>{base.version === 0 ? 'Not stored yet' : `Version ${base.version}`}</strong>
            {unsaved && <Badge tone="warn">changed, not saved</Badge>}
            <FaultCount faults={faults} />
            <span className={styles.spring} />
            {may_edit ? (
              <>
                <Button onClick={addAgent}>Add an agent</Button>
                <Button disabled={!unsaved} onClick={() => editor.current?.replace(base.text)}>
                  Undo all changes
                </Button>
                <Button
                  kind="main"
                  disabled={!unsaved || theirs !== null}
                  onClick={() => {
                    saving.reset()
                    setReviews(true)
                  }}
                >
                  See changes and save …
                </Button>
              </>
            ) : (
              <Badge tone="none">read-only</Badge>
            )}
          </header>
          <div ref={place} className={styles.editor} />
          <p id={explained_by} className={styles.hint}>
            {may_edit
              ? 'Tab indents; to leave the editor with the keyboard, press Esc and then Tab. F8 goes to the next fault.'
              : `Changing the registry needs the role operator or more, and ${me.principal.id} is ${me.principal.role}.`}
          </p>
          <p className={styles.said} role="status">
            {said}
          </p>
        </section>
        <div className={styles.aside}>
          {faults.length > 0 && (
            <section className={styles.side} aria-label="Faults">
              <h2>What is wrong</h2>
              <FaultList faults={faults} goTo={(fault) => editor.current?.goTo(fault)} />
            </section>
          )}
          <History
            stored={stored}
            restore={
              may_edit
                ? (old) => {
                    editor.current?.replace(old)
                    setSaid('That version is in the editor. It is not stored until you save it.')
                  }
                : null
            }
          />
          <Rules />
        </div>
      </div>
      {reviews && (
        <SaveDialog
          base={base}
          text={text}
          faults={textFaults(text, profiles)}
          saving={saving.isPending}
          refusal={saving.error?.message ?? null}
          save={save}
          close={() => setReviews(false)}
        />
      )}
      {leave && (
        <Dialog title="Leave without saving?" close={stay}>
          <div className={styles.stack}>
            <p>
              Your changes to the registry are not saved. This tab keeps them as a draft, and offers it when you return.
            </p>
            <div className={styles.actions}>
              <Button kind="main" onClick={stay}>
                Stay here
              </Button>
              <Button onClick={leave}>Leave</Button>
            </div>
          </div>
        </Dialog>
      )}
    </div>
  )
}
