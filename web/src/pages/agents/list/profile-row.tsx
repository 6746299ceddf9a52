import { Link } from 'wouter'
import { profileSourceInWords } from '#domain'
import { at } from '../../../api/client'
import { Badge } from '../../../parts/status'
import type { ProfileView } from '../data'
import styles from './list.module.css'
import { budgetWords } from './profile-facts'
import { sourceLabel } from './sources'

/** A profile with where it comes from, and what decides most about it. */
export function ProfileRow({ view, chosen }: { view: ProfileView; chosen: boolean }) {
  const { name, source, profile, fault, shadows } = view
  return (
    <li className={styles.row} data-chosen={chosen}>
      <div className={styles.title}>
        <Link href={at`/agents/show/${name}`} className={styles.name} aria-current={chosen ? 'true' : undefined}>
          {name}
        </Link>
        <span className={styles.source} title={profileSourceInWords(source)}>
          {sourceLabel(source)}
        </span>
        {fault !== null && <Badge tone="bad">cannot be used</Badge>}
      </div>
      {fault !== null && <p className={styles.fault}>{fault}</p>}
      {profile?.description !== undefined && <p className={styles.says}>{profile.description}</p>}
      <p className={styles.small}>
        {[
          ...(profile === null ? [] : summary(profile)),
          ...shadows.slice(0, 1).map((hidden) => `stands before ${profileSourceInWords(hidden)}`),
        ].join(' · ')}
      </p>
    </li>
  )
}

function summary(profile: NonNullable<ProfileView['profile']>): string[] {
  const { model, pool, tools } = profile
  const count = tools?.length
  return [
    model ?? (pool === undefined ? "its parent's model" : `pool ${pool}`),
    count === undefined ? "its parent's tools" : count === 1 ? '1 tool' : `${count === 0 ? 'no' : count} tools`,
    ...budgetWords(profile).slice(0, 3),
  ]
}
