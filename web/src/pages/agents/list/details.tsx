import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { forwardedInWords, profileSourceInWords, type RegistryEntry } from '#domain'
import { ApiError, at } from '../../../api/client'
import { Button } from '../../../parts/button'
import { Empty, Failure, Loading } from '../../../parts/states'
import { Badge } from '../../../parts/status'
import { type ProfileView, useShown } from '../data'
import { PinDialog } from '../pins/pin-dialog'
import styles from './list.module.css'
import { type Fact, profileFacts } from './profile-facts'
import { howToMend, sourceLabel, whereChanged } from './sources'

/** All that is said about one agent or profile. Nothing of it is more than text: it may come from anybody's files. */
export function Details({ name }: { name: string }) {
  const { data, error, refetch } = useShown(name)
  const [pins, setPins] = useState(false)
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Empty title={`There is no ${name}`} below>
        {error.message}
      </Empty>
    )
  }
  if (!data) return error ? <Failure below error={error} retry={refetch} /> : <Loading what={name} />
  const { profile, entry } = data
  return (
    <article className={styles.details} aria-label={name}>
      <Link href="/agents" className={styles.back}>
        ← All agents and profiles
      </Link>
      <header className={styles.head}>
        <h2>{entry?.agentId ?? profile.name}</h2>
        {profile.fault !== null && <Badge tone="bad">cannot be used</Badge>}
        {profile.fault === null && <Button onClick={() => setPins(true)}>Pin …</Button>}
      </header>
      {entry && <Entry entry={entry} />}
      <Profile view={profile} is_own={entry === null} />
      {pins && <PinDialog name={entry?.agentId ?? profile.name} scope="user" close={() => setPins(false)} />}
    </article>
  )
}

function Entry({ entry }: { entry: RegistryEntry }) {
  const { profileId, description, tags = [] } = entry
  const skills = forwardedInWords(entry.defaultForwardSkills, entry.allowedForwardSkills)
  const servers = forwardedInWords(entry.defaultMcpServers, entry.allowedMcpServers)
  return (
    <section aria-label="Registry entry">
      <p className={styles.lead}>{description}</p>
      <dl className={styles.table}>
        <Row label="Profile">
          <Link href={at`/agents/show/${profileId}`}>{profileId}</Link>
        </Row>
        <Row label="Skills">{skills ?? 'no further limit than those of its profile and parent'}</Row>
        <Row label="MCP servers">{servers ?? 'no further limit than those of its profile and parent'}</Row>
        {tags.length > 0 && <Names label="Tags" names={tags} />}
      </dl>
      <p className={styles.where}>
        A handle is changed in the <Link href="/agents/registry">registry</Link>.
      </p>
    </section>
  )
}

function Profile({ view, is_own }: { view: ProfileView; is_own: boolean }) {
  const { name, profile, fault, source, shadows, handles, notes, kept } = view
  const changed = whereChanged(view)
  const unknown = Object.keys(kept)
  return (
    <section aria-label={`Profile ${name}`}>
      {!is_own && <h3>Its profile, {name}</h3>}
      {fault !== null && (
        <div className={styles.mend}>
          <p>{fault}</p>
          <p>{howToMend(view)}</p>
        </div>
      )}
      {is_own && profile?.description !== undefined && <p className={styles.lead}>{profile.description}</p>}
      <dl className={styles.table}>
        <Row label="From">
          {profileSourceInWords(source)}
          {source.kind === 'file' && <span className={styles.source}>{sourceLabel(source)}</span>}
        </Row>
        {shadows.length > 0 && <Row label="Stands before">{shadows.map(profileSourceInWords).join('; ')}</Row>}
        {handles.length > 0 && (
          <Row label="Handles">
            {handles.map((handle) => (
              <Link key={handle} href={at`/agents/show/${handle}`} className={styles.handle}>
                {handle}
              </Link>
            ))}
          </Row>
        )}
        {profile && profileFacts(profile).map((fact) => <FactRow key={fact.label} fact={fact} />)}
        {notes.length > 0 && (
          <Row label="Notes">
            {notes.map((note) => (
              <p key={note}>{note}</p>
            ))}
          </Row>
        )}
        {unknown.length > 0 && <Names label="Not understood" names={unknown} />}
      </dl>
      {profile?.system_prompt !== undefined && (
        <>
          <h3 id="prompt-heading">Prompt</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reached by the keyboard */}
          <section className={styles.prompt} tabIndex={0} aria-labelledby="prompt-heading">
            {profile.system_prompt}
          </section>
        </>
      )}
      <p className={styles.where}>
        {changed.says}
        {changed.command !== null && (
          <>
            {' '}
            <code>{changed.command}</code>
          </>
        )}
      </p>
    </section>
  )
}

function FactRow({ fact }: { fact: Fact }) {
  return fact.names ? <Names label={fact.label} names={fact.names} /> : <Row label={fact.label}>{fact.says}</Row>
}

function Names({ label, names }: { label: string; names: readonly string[] }) {
  return (
    <Row label={label}>
      <ul className={styles.names}>
        {names.map((name) => (
          <li key={name}>
            <code>{name}</code>
          </li>
        ))}
      </ul>
    </Row>
  )
}

function Row({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
