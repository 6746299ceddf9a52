/** The shop of the pictures: its modules, what agents say about them, and who they are. */

const MODULES = [
  ...['till', 'cart', 'prices', 'discounts', 'vouchers', 'taxes', 'receipts', 'refunds', 'orders', 'invoices'],
  ...['stock', 'suppliers', 'deliveries', 'returns', 'oven', 'recipes', 'shifts', 'payroll', 'menu', 'allergens'],
  ...[
    'catering',
    'subscriptions',
    'gift-cards',
    'loyalty',
    'exports',
    'imports',
    'reports',
    'backups',
    'search',
    'maps',
  ],
  ...['mail', 'printer', 'scanner', 'scales', 'clock', 'doors'],
]

export const REGISTRY = [
  {
    handle: '@critic',
    profile: 'reviewer',
    description: 'Finds faults before others do.',
    tags: ['review', 'quality'],
  },
  { handle: '@scout', profile: 'researcher', description: 'Knows its way around the code.', tags: ['research'] },
  { handle: '@smith', profile: 'executor', description: 'Makes changes that are small and checked.', tags: ['code'] },
  { handle: '@prices', profile: 'accountant', description: 'Asked about money, tax and rounding.', tags: ['money'] },
]

type Step = Record<string, unknown>
const answer = (input_tokens: number, output_tokens: number, step: Step): Step => ({
  ...step,
  usage: { input_tokens, output_tokens },
  cost_usd: (input_tokens * 3 + output_tokens * 15) / 1_000_000,
})

const SUMMARY = [
  answer(1400, 60, { calls: [{ list_dir: {} }, { read_file: { path: 'src/cart.js' } }] }),
  answer(2300, 90, {
    text: 'It is the cart of a bakery: it adds items up in whole cents.\n\nTests are in `test/`, and an **empty cart** has one.',
  }),
]

const RESEARCH = {
  root: [
    answer(1900, 240, {
      calls: ['who catches errors', 'which errors are thrown', 'where errors are logged', 'what users see'].map(
        (what) => ({
          spawn: { task: `Find out ${what}, and name files and lines`, profile: 'researcher' },
        }),
      ),
    }),
    answer(2400, 40, { calls: [{ spawn_await: { job_ids: '*' } }] }),
    answer(5200, 420, {
      text: '## Errors\n\n- Four places catch, in **four ways**.\n- `src/cart.js` loses the cause.\n- Nothing is logged.',
    }),
  ],
  'a*': [
    answer(1200, 50, { delay_ms: 150, calls: [{ search_files: { pattern: 'throw|catch', path: 'src' } }] }),
    answer(1800, 40, { delay_ms: 250, calls: [{ read_file: { path: 'src/cart.js' } }] }),
    answer(2600, 190, { delay_ms: 200, text: 'Two places, both in `src/cart.js`.' }),
  ],
}

/** Of each module: read, changed, tested; they take their time, some fail, some go on for as long as one looks. */
function moved(module: string, i: number): Step[] {
  const slow = { delay_ms: 200 + ((i * 137) % 900) }
  const steps = [
    answer(1500 + i * 11, 60, { ...slow, calls: [{ read_file: { path: `src/modules/${module}.js` } }] }),
    answer(2100 + i * 13, 180, {
      ...slow,
      calls: [{ edit_file: { path: `src/modules/${module}.js`, old_text: 'number', new_text: 'Price' } }],
    }),
    answer(2600, 40, { ...slow, calls: [{ run_command: { command: `node --check src/modules/${module}.js` } }] }),
  ]
  if (i % 9 === 4)
    return [...steps.slice(0, 1), { fail: { code: 'bad_request', message: 'The request was not understood' } }]
  if (i >= 22) return [...steps.slice(0, 1 + (i % 2)), { delay_ms: 3_600_000, text: 'Moved.' }]
  return [...steps, answer(3000, 120, { ...slow, text: `src/modules/${module}.js uses **Price** now, and is valid.` })]
}

const MIGRATION = {
  root: [
    answer(3100, 300, {
      text: 'I look at how prices are used first.',
      calls: [
        { spawn_agent: { task: 'List every module that has a price', profile: 'researcher', max_tool_calls: 400 } },
      ],
    }),
    answer(4200, 1800, {
      calls: MODULES.map((module) => ({
        spawn: { task: `Move ${module} to the new price type`, profile: 'smith', owns: `src/modules/${module}.js` },
      })),
    }),
    answer(5100, 200, { calls: [{ web_fetch: { url: 'https://bakery.example/docs/prices' } }] }),
    answer(6000, 100, { text: 'All modules are moved.' }),
  ],
  a1: [
    answer(1700, 80, {
      delay_ms: 300,
      calls: [{ list_dir: { path: 'src/modules' } }, { search_files: { pattern: 'number', path: 'src' } }],
    }),
    answer(2900, 260, { delay_ms: 500, text: `${MODULES.length} modules have a price.` }),
  ],
  ...Object.fromEntries(MODULES.map((module, i) => [`a${i + 2}`, moved(module, i)])),
}

const FAILING = {
  root: [
    answer(1500, 70, { calls: [{ read_file: { path: 'src/cart.js' } }] }),
    { fail: { code: 'auth', message: 'The key of this provider was not accepted' } },
  ],
}

const BUDGET = {
  root: Array.from({ length: 3 }, (_, i) =>
    answer(1800 + i * 900, 60, { calls: [{ search_files: { pattern: `price${i}` } }] }),
  ),
}

/** The plan is under way: two steps are done, two at work, and the others wait for them. */
const PLAN = {
  version: 1,
  goal: 'Discounts in the cart: tested, implemented, documented and announced',
  assumptions: ['Prices are whole cents, as in src/cart.js.'],
  completion_criteria: ['Every price in the cart can have a discount.', 'The tests pass.'],
  checks: ['node --test'],
  steps: [
    { id: 'tests', title: 'Write the tests first', agent: 'tester', owns: ['test/discount.test.js'] },
    { id: 'words', title: 'Find words for customers', agent: 'researcher', owns: [] },
    { id: 'implement', title: 'Make the tests pass', agent: 'executor', depends_on: ['tests'], owns: ['src/**'] },
    {
      id: 'messages',
      title: 'Say it at the till',
      agent: 'executor',
      depends_on: ['words'],
      owns: ['src/messages.js'],
    },
    { id: 'docs', title: 'Document it', agent: 'executor', depends_on: ['words'], owns: ['docs/**'] },
    { id: 'announce', title: 'Announce it', agent: 'executor', depends_on: ['implement', 'docs'], owns: ['NEWS.md'] },
  ].map((step) => ({ description: `${step.title}.`, ...step })),
}

const PLAN_SCRIPT = {
  a1: [
    answer(1900, 300, {
      calls: [
        {
          write_file: { path: 'test/discount.test.js', content: "import test from 'node:test'\ntest('nothing yet')\n" },
        },
      ],
    }),
    answer(2300, 80, { text: 'test/discount.test.js has the first test.' }),
  ],
  a2: [answer(1500, 240, { delay_ms: 400, text: 'Say “was” and “now”; never “only”.' })],
  a3: [answer(2400, 90, { calls: [{ read_file: { path: 'src/cart.js' } }] }), { delay_ms: 3_600_000, text: 'Done.' }],
  a4: [answer(2100, 70, { calls: [{ list_dir: { path: 'src' } }] }), { delay_ms: 3_600_000, text: 'Done.' }],
  'a*': [answer(1800, 60, { calls: [{ list_dir: {} }] }), { delay_ms: 3_600_000, text: 'Done.' }],
}

const OWN_CONFIG = `model: scripted/.scripts/summary.json
budget: { sub_agents: 60 }
workspace: { isolation: shared }
delegation:
  max_concurrent: 8
  max_retries: 0
profiles:
  smith: { description: Moves one module and checks it., budget: { wall_ms: 900000, tool_calls: 12 } }
  accountant: { description: Answers questions about money., tools: [read_file, search_files], mode: plan }
`

/** Every file of it by name, but for those of the example that it begins from. */
export function bakery(): Record<string, string> {
  const scripts = {
    summary: { root: SUMMARY },
    research: RESEARCH,
    failing: FAILING,
    budget: BUDGET,
    migration: MIGRATION,
    plan: PLAN_SCRIPT,
  }
  return {
    'plan.json': JSON.stringify(PLAN, null, 2),
    '.config/retinue/config.yaml': OWN_CONFIG,
    '.gitignore': '.config\n.scripts\n.retinue\n',
    ...Object.fromEntries(
      Object.entries(scripts).map(([name, agents]) => [`.scripts/${name}.json`, JSON.stringify({ agents })]),
    ),
    ...Object.fromEntries(
      MODULES.map((module) => [
        `src/modules/${module}.js`,
        `/** ${module}: prices as a number of cents */\nexport const ${module.replace('-', '_')} = (cents) => cents\n`,
      ]),
    ),
  }
}
