import { scopeInWords } from '#domain'
import type { Me } from '#wire'
import { Field } from './field'
import type { RunForm } from './start-run'

type Agent = RunForm['agent']
type Props = {
  choices: Me['choices']
  /** A plan is made first, and says for each step who does it. */
  plan: boolean
  value: Agent
  change: (agent: Agent) => void
  fault?: string | undefined
}

/** The values of the select for what is no name: no profile or handle begins with a colon. */
const PINNED = ':pinned'
const NONE = ':none'

/** To whom the run is given, and why. */
export function AgentChoice({ choices: { agents, pin }, plan, value, change, fault }: Props) {
  const chosen = value.kind === 'named' ? value.name : value.kind === 'none' ? NONE : PINNED
  const take = (text: string) => {
    if (text === PINNED) change({ kind: 'pinned' })
    else if (text === NONE) change({ kind: 'none' })
    else change({ kind: 'named', name: text })
  }
  return (
    <Field
      label="Agent"
      fault={fault}
      says={plan ? 'The plan says for each step who does it' : wordsFor(value, { agents, pin })}
    >
      {(props) => (
        <select {...props} disabled={plan} value={chosen} onChange={({ target }) => take(target.value)}>
          <option value={PINNED}>{pin ? `As pinned: ${nameOf(pin)}` : 'No profile in particular'}</option>
          {pin && <option value={NONE}>No profile, whatever is pinned</option>}
          {agents.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

type Pin = NonNullable<Me['choices']['pin']>

function nameOf({ handle, profile_id }: Pin): string {
  return handle ?? profile_id
}

function wordsFor(value: Agent, { agents, pin }: Pick<Me['choices'], 'agents' | 'pin'>): string {
  if (value.kind === 'named') return agents.find(({ name }) => name === value.name)?.description ?? ''
  if (value.kind === 'none') return `It has no profile, although ${pin ? nameOf(pin) : 'one'} is pinned`
  if (!pin)
    return 'Nothing is pinned, so that it has no profile: all tools that the settings allow, and no special instructions'
  const held = `${pin.by} pinned ${nameOf(pin)} ${scopeInWords(pin.scope, null)}`
  return pin.fault === null ? held : `${held}, which cannot hold: ${pin.fault}`
}
