import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { MODES, type Mode } from '#domain'
import type { Me, Started, StartRun } from '#wire'
import { ApiError, api, at } from '../../api/client'
import { useMe } from '../../api/queries'
import { Button } from '../../parts/button'
import { Dialog } from '../../parts/dialog'
import { AgentChoice } from './agent-choice'
import { Field } from './field'
import styles from './new-run.module.css'
import { type AmountName, atFields, type Fault, LIMITS, MODE_WORDS, NEW_RUN, orderOf, type RunForm } from './start-run'

const FIELDS = ['task', 'profile', 'mode', 'model', ...Object.values(LIMITS)]

export function NewRun({ close }: { close: () => void }) {
  const { data: me } = useMe()
  return (
    <Dialog title="New run" close={close}>
      {me && <Form choices={me.choices} close={close} />}
    </Dialog>
  )
}

function Form({ choices, close }: { choices: Me['choices']; close: () => void }) {
  const [form, setForm] = useState<RunForm>(NEW_RUN)
  const [unmet, setUnmet] = useState<Fault[]>([])
  const [, go] = useLocation()
  const start = useMutation({
    mutationFn: (order: StartRun) => api<Started>('/runs', { method: 'POST', body: order }),
    onSuccess: ({ run_id }) => go(at`/runs/${run_id}`),
  })
  const { at: faults, elsewhere } = atFields([...unmet, ...faultsOf(start.error)], FIELDS)
  const set = (changed: Partial<RunForm>) => setForm((form) => ({ ...form, ...changed }))
  const send = () => {
    if (start.isPending) return
    const asked = orderOf(form)
    setUnmet(asked.ok ? [] : asked.faults)
    if (asked.ok) start.mutate(asked.order)
    else start.reset()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send()
  }
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
  }
  const { model, mode } = choices.defaults
  const is_folded = ![...faults.keys()].some((path) => path.startsWith('budget.'))
  return (
    <form className={styles.form} onSubmit={submit} onKeyDown={keys} noValidate>
      <Field label="Task" fault={faults.get('task')}>
        {(props) => (
          <textarea
            {...props}
            rows={5}
            data-first
            placeholder="What is to be done, and how one can tell that it is"
            value={form.task}
            onChange={({ target }) => set({ task: target.value })}
          />
        )}
      </Field>
      <label className={styles.check}>
        <input type="checkbox" checked={form.plan} onChange={({ target }) => set({ plan: target.checked })} />
        <span>
          Make a plan first
          <small>A planner writes the steps down. You see them and say yes before anything is carried out.</small>
        </span>
      </label>
      <AgentChoice
        {...{ choices, plan: form.plan, fault: faults.get('profile') }}
        value={form.agent}
        change={(agent) => set({ agent })}
      />
      <div className={styles.pair}>
        <Field label="Mode" fault={faults.get('mode')} says={MODE_WORDS[form.mode || mode]}>
          {(props) => (
            <select {...props} value={form.mode} onChange={({ target }) => set({ mode: target.value as Mode | '' })}>
              <option value="">As in the settings: {mode}</option>
              {MODES.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Model" fault={faults.get('model')} says={modelSays(form, model)}>
          {(props) => (
            <input
              {...props}
              type="text"
              spellCheck={false}
              autoComplete="off"
              placeholder={model ?? 'provider/model'}
              value={form.model}
              onChange={({ target }) => set({ model: target.value })}
            />
          )}
        </Field>
      </div>
      <details className={styles.limits} open={is_folded ? undefined : true}>
        <summary>Limits</summary>
        <p>What is left empty is as in the settings. What sub-agents spend counts too.</p>
        <div className={styles.amounts}>
          <Amount name="turns" label="Turns" {...{ form, set, faults }} />
          <Amount name="tool_calls" label="Tool calls" {...{ form, set, faults }} />
          <Amount name="total_tokens" label="Tokens" {...{ form, set, faults }} />
          <Amount name="cost_usd" label="Cost in $" {...{ form, set, faults }} />
          <Amount name="minutes" label="Time in minutes" {...{ form, set, faults }} />
        </div>
      </details>
      {(elsewhere.length > 0 || (start.error && faultsOf(start.error).length === 0)) && (
        <div className={styles.refused} role="alert">
          {start.error && <p>{start.error.message}</p>}
          {elsewhere.map(({ path, message }) => (
            <p key={path}>
              {path}: {message}
            </p>
          ))}
        </div>
      )}
      <footer className={styles.footer}>
        <span className={styles.hint}>Ctrl+Enter starts it</span>
        <Button onClick={close}>Cancel</Button>
        <Button kind="main" type="submit" disabled={start.isPending}>
          {start.isPending ? 'Starting …' : form.plan ? 'Make the plan' : 'Start the run'}
        </Button>
      </footer>
    </form>
  )
}

type AmountProps = {
  name: AmountName
  label: string
  form: RunForm
  set: (changed: Partial<RunForm>) => void
  faults: ReadonlyMap<string, string>
}

function Amount({ name, label, form, set, faults }: AmountProps) {
  return (
    <Field label={label} fault={faults.get(LIMITS[name])}>
      {(props) => (
        <input
          {...props}
          type="text"
          inputMode={name === 'cost_usd' || name === 'minutes' ? 'decimal' : 'numeric'}
          value={form[name]}
          onChange={({ target }) => set({ [name]: target.value })}
        />
      )}
    </Field>
  )
}

function modelSays({ model }: RunForm, configured: string | null): string {
  if (configured === null) return 'The settings name none: say which, such as provider/model'
  return `${model.trim() === '' ? 'As in the settings' : 'Instead of the one in the settings'}: ${configured}`
}

function faultsOf(error: Error | null): Fault[] {
  return error instanceof ApiError ? error.faults : []
}
