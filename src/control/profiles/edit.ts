import {
  budgetFaults,
  type ControlRecord,
  faultsInWords,
  hasUnseen,
  isObject,
  PROFILE_NAME,
  PROFILE_NAME_FAULT,
  type Profile,
  parsePinRecordId,
  profileFaults,
  profileSchema,
  profileSourceInWords,
  quoted,
  type RegistryFault,
  unknownKeys,
} from '../../domain/index.js'
import { type ControlDone, type ControlRefusal, done, refused } from '../done.js'
import { listPins, type PinView } from '../pins/stored.js'
import type { ControlPlace } from '../place.js'
import { secretIn } from '../secret-in.js'
import type { CatalogEntry } from './catalog.js'

/** Long enough for any prompt that a person would write. */
const LONGEST = 200_000
/** Others who write the same profile at once. */
const TRIES = 20

/** What may be wrong with a profile besides its form: tools, models and files that are not there, bad globs. */
export type MoreProfileFaults = (profile: Profile) => RegistryFault[]

/** Writes a profile to the store, where it stands before all others of its name. */
export async function putProfile(
  place: ControlPlace,
  given: { name: string; profile: unknown; expected_version: number | undefined },
  more: MoreProfileFaults,
): Promise<ControlDone<ControlRecord>> {
  const { name, profile, expected_version } = given
  const bad_name = nameFault(name)
  if (bad_name) return bad_name
  const secret = secretIn(place, profile)
  if (secret) return secret
  const checked = checkProfile(profile, more)
  if (!checked.ok) return checked
  const put = await write(place, name, checked.value, expected_version)
  if (put.ok) return done(put.record, `The profile ${name} is in the store, with version ${put.record.version}.`)
  const now = put.current === 0 ? 'there is none now' : `it has version ${put.current} now`
  return refused(
    'conflict',
    `The profile ${name} in the store was changed since version ${expected_version ?? 'that was seen'}, ${now}: read it again and make your change there.`,
  )
}

/** Where no version is expected, what others wrote meanwhile is replaced too. */
async function write(place: ControlPlace, id: string, value: Profile, expected: number | undefined) {
  const { records, principal } = place
  const attempt = async () => {
    const expected_version = expected ?? (await records.record('profile', id))?.version ?? 0
    return records.putRecord({ type: 'profile', id, value, by: principal.id, expected_version })
  }
  let put = await attempt()
  for (let tried = 1; !put.ok && expected === undefined && tried < TRIES; tried++) put = await attempt()
  return put
}

function checkProfile(given: unknown, more: MoreProfileFaults): ControlDone<Profile> {
  const parsed = profileSchema.safeParse(given)
  if (!parsed.success) {
    const unknown = isObject(given) ? unknownKeys(given, Object.keys(profileSchema.shape), '') : []
    const others = parsed.error.issues.filter(({ code, path }) => code !== 'unrecognized_keys' || path.length > 0)
    const faults = others.map(({ path, message }) => ({ path: path.join('.'), message }))
    return refused('input', faultsInWords([...unknown, ...faults]))
  }
  const profile = parsed.data
  const faults: RegistryFault[] = [
    ...profileFaults(profile).map(({ path, message }) => ({ path: path.join('.'), message })),
    ...budgetFaults(profile.budget ?? {}).map((message) => ({ path: 'budget', message })),
    ...more(profile),
  ]
  if (hasUnseen((profile.description ?? '').replace(/[\n\r\t]/g, ' '))) {
    faults.push({ path: 'description', message: 'has characters that cannot be seen: write it in plain text' })
  }
  const { length } = JSON.stringify(profile)
  if (length > LONGEST) faults.push({ path: '', message: `the profile has ${length} characters: at most ${LONGEST}` })
  return faults.length > 0 ? refused('input', faultsInWords(faults)) : done(profile, '')
}

/**
 * Removes a profile from the store. What points at it would be left without a profile, unless another of its name is
 * somewhere else: so such agents and pins are named, and go first.
 */
export async function removeProfile(place: ControlPlace, name: string): Promise<ControlDone<ControlRecord>> {
  const bad_name = nameFault(name)
  if (bad_name) return bad_name
  const [record, catalog] = await Promise.all([place.records.record('profile', name), place.catalog()])
  const entry = catalog.profiles.get(name)
  if (record === null) return refused('not_found', `There is no profile ${name} in the store${elsewhere(entry)}.`)
  const [next] = entry?.shadows ?? []
  if (next === undefined) {
    const pins = (await listPins(place.records, catalog)).filter(({ profile_id }) => profile_id === name)
    const handles = [...catalog.agents.values()].filter(({ profileId }) => profileId === name)
    const users = [
      ...handles.map(({ agentId }) => `retinue agents unregister ${agentId}`),
      ...pins.map((pin) => howToUnpin(pin, place)),
    ]
    if (users.length > 0) {
      const what =
        users.length > 10 ? `${users.slice(0, 10).join('; ')}; and ${users.length - 10} more` : users.join('; ')
      return refused('conflict', `The profile ${name} is in use. First: ${what}`)
    }
  }
  const removed = await place.records.deleteRecord({
    ...{ type: 'profile', id: name, by: place.principal.id, expected_version: record.version },
  })
  if (!removed.ok) return refused('conflict', `The profile ${name} was changed at the same time: look at it again.`)
  const now = next === undefined ? '' : `; ${name} is now the one from ${profileSourceInWords(next)}`
  return done(removed.record, `The profile ${name} is no longer in the store${now}.`)
}

/** What undoes a pin, whoever's and wherever it is. */
function howToUnpin({ scope, record_id }: PinView, { principal, workspace }: ControlPlace): string {
  const of = parsePinRecordId(record_id)?.of ?? null
  const command = `retinue agents unpin --${scope}`
  if (scope === 'session') return `${command} ${of}`
  if (scope === 'user' && of !== principal.id) return `${command} --as ${of}`
  return scope === 'workspace' && of !== workspace ? `${command} in the folder of ${record_id}` : command
}

function elsewhere(entry: CatalogEntry | undefined): string {
  return entry === undefined ? '' : `: it comes from ${profileSourceInWords(entry.source)}, and is changed there`
}

function nameFault(name: unknown): ControlRefusal | null {
  if (typeof name === 'string' && PROFILE_NAME.test(name)) return null
  return refused('input', `${quoted(name)} is no name of a profile: ${PROFILE_NAME_FAULT}.`)
}
