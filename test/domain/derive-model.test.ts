import { describe, expect, it } from 'vitest'
import {
  type Adjustment,
  chooseChildModel,
  DELEGATION_DEFAULTS,
  deriveContract,
  type Profile,
} from '../../src/domain/index.js'
import { child, refusal, root, TOOLS } from './derive-lab.js'
import { adjustment, fresh } from './deriving.js'

describe('a model', () => {
  const choice = (provider: string, model: string, source: string, adjustments: Adjustment[] = []) => ({
    provider,
    model,
    source,
    adjustments,
  })
  const alone = 'the profile helper is for p/cheap alone'
  const others = 'sub-agents here may use p/m, p/cheap, pool/fast'

  it.each<[Profile | null, string | undefined, object, string[]]>([
    [null, undefined, choice('p', 'm', 'inherited'), ['p/m', 'p/cheap', 'pool/fast']],
    [null, 'p/cheap', choice('p', 'cheap', 'request'), ['p/m', 'p/cheap', 'pool/fast']],
    [null, 'fast', choice('pool', 'fast', 'request'), ['p/m', 'p/cheap', 'pool/fast']],
    [
      null,
      'q/vendor/big',
      choice('p', 'm', 'inherited', [adjustment('model', 'q/vendor/big', 'p/m', others)]),
      ['p/m', 'p/cheap', 'pool/fast'],
    ],
    [{ model: 'p/cheap' }, undefined, choice('p', 'cheap', 'profile'), ['p/cheap']],
    [{ pool: 'fast' }, undefined, choice('pool', 'fast', 'profile'), ['pool/fast']],
    [{ model: 'p/cheap' }, 'p/cheap', choice('p', 'cheap', 'request'), ['p/cheap']],
    [
      { model: 'p/cheap' },
      'p/m',
      choice('p', 'cheap', 'profile', [adjustment('model', 'p/m', 'p/cheap', alone)]),
      ['p/cheap'],
    ],
    [{ models: ['p/cheap', 'p/m'] }, undefined, choice('p', 'm', 'inherited'), ['p/m', 'p/cheap']],
    [{ models: ['q/big', 'fast', 'p/cheap'] }, undefined, choice('pool', 'fast', 'profile'), ['p/cheap', 'pool/fast']],
    [{ models: ['p/cheap'] }, 'p/cheap', choice('p', 'cheap', 'request'), ['p/cheap']],
    [
      { models: ['p/cheap'] },
      'p/m',
      choice('p', 'cheap', 'profile', [adjustment('model', 'p/m', 'p/cheap', alone)]),
      ['p/cheap'],
    ],
    [{ model: 'p/cheap', models: ['fast'] }, undefined, choice('p', 'cheap', 'profile'), ['p/cheap', 'pool/fast']],
    [{ model: 'p/cheap', models: ['fast'] }, 'fast', choice('pool', 'fast', 'request'), ['p/cheap', 'pool/fast']],
    [
      { pool: 'fast', models: ['p/cheap', 'q/big'] },
      'p/m',
      choice('pool', 'fast', 'profile', [
        adjustment('model', 'p/m', 'pool/fast', 'the profile helper is for pool/fast, p/cheap, q/big'),
      ]),
      ['p/cheap', 'pool/fast'],
    ],
    // Its profile would have it; its parent may not give it.
    [
      { pool: 'fast', models: ['q/big'] },
      'q/big',
      choice('pool', 'fast', 'profile', [adjustment('model', 'q/big', 'pool/fast', others)]),
      ['pool/fast'],
    ],
    [{ model: 'q/big', models: ['p/m'] }, 'p/m', choice('p', 'm', 'request'), ['p/m']],
    [
      { model: 'q/big', models: ['q/vast', 'fast', 'p/m'] },
      undefined,
      choice('pool', 'fast', 'profile', [adjustment('model', 'q/big', 'pool/fast', others)]),
      ['p/m', 'pool/fast'],
    ],
    [
      { model: 'q/big', models: ['fast'] },
      'p/m',
      choice('pool', 'fast', 'profile', [
        adjustment('model', 'p/m', 'pool/fast', 'the profile helper is for q/big, pool/fast'),
        adjustment('model', 'q/big', 'pool/fast', others),
      ]),
      ['pool/fast'],
    ],
  ])('of profile %j and request %j is %j', (profile, model, chosen, allowed) => {
    const request = { task: 't', ...(model === undefined ? {} : { model }) }
    const named = profile ? { name: 'helper', profile, digest: '' } : null
    expect(chooseChildModel(root(), named, request)).toEqual({ ok: true, ...chosen })
    const contract = child({ request, ...(profile ? { profile } : {}) })
    expect({ ...contract.model, adjustments: contract.adjustments }).toEqual({ ...chosen, allowed })
  })

  const allow = 'with delegation.models (and the models of the profile that delegates), or use another profile.'

  it.each<[Profile, string | undefined, string]>([
    [{ model: 'q/big' }, undefined, `for q/big, and ${others}. Allow q/big ${allow}`],
    // Neither its parent's nor what was asked for is what the profile says.
    [{ model: 'q/big' }, 'p/m', `for q/big, and ${others}. Allow q/big ${allow}`],
    [{ pool: 'slow' }, 'p/cheap', `for pool/slow, and ${others}. Allow pool/slow ${allow}`],
    [{ models: ['q/big', 'slow'] }, 'p/m', `for q/big or pool/slow, and ${others}. Allow q/big or pool/slow ${allow}`],
    [{ models: [] }, undefined, 'for no model at all. Use another profile, or none.'],
    [{ models: [] }, 'p/m', 'for no model at all. Use another profile, or none.'],
  ])('of profile %j and request %j is none, rather than another', (profile, model, message) => {
    expect(refusal({ profile, request: model === undefined ? {} : { model } })).toBe(
      `Not spawned: the profile helper is ${message}`,
    )
  })

  it('that its profile is not for is refused, whoever chose it', () => {
    const derived = deriveContract({
      parent: fresh(root()),
      child: { id: 'a1', step_idx: 0 },
      profile: { name: 'helper', profile: { models: ['p/cheap'] }, digest: '' },
      request: { task: 't' },
      settings: DELEGATION_DEFAULTS,
      model: { provider: 'p', model: 'm', source: 'inherited', adjustments: [], window: null },
      known_tools: TOOLS,
      prompt_digest: '',
    })
    expect(derived).toEqual({ ok: false, message: `Not spawned: it cannot have p/m: ${alone}.` })
  })

  it('may be the parent’s own where its list has forgotten it', () => {
    const contract = root()
    contract.model.allowed = ['p/cheap']
    expect(child({ parent: fresh(contract) }).model.allowed).toEqual(['p/m', 'p/cheap'])
  })

  it('that the parent may not give is refused, whoever chose it', () => {
    const parent = fresh(root())
    const derived = deriveContract({
      parent,
      child: { id: 'a1', step_idx: 0 },
      profile: null,
      request: { task: 't' },
      settings: DELEGATION_DEFAULTS,
      model: { provider: 'q', model: 'big', source: 'request', adjustments: [], window: null },
      known_tools: TOOLS,
      prompt_digest: '',
    })
    expect(derived).toEqual({
      ok: false,
      message: 'Not spawned: its parent may not give it q/big, only p/m, p/cheap, pool/fast.',
    })
  })
})
