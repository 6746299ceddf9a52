/** The project that the demo works on, and the script of the model that works on it. */
export const DEMO_TASK = 'The test of the shopping cart fails. Have it mended and documented, and tell me who uses it.'

export const DEMO_FILES = {
  'package.json': '{ "name": "shop", "private": true, "type": "module" }\n',
  'README.md': '# Shop\n\nA very small shop.\n',
  'src/cart.js': `export function total(items) {
  let sum = 0
  for (let i = 1; i < items.length; i++) sum += items[i].price * items[i].count
  return sum
}
`,
  'src/checkout.js': `import { total } from "./cart.js"

export function checkout(items) {
  return \`To pay: \${total(items)}\`
}
`,
  'test/cart.test.js': `import assert from "node:assert/strict"
import { test } from "node:test"
import { total } from "../src/cart.js"

test("adds up every item", () => {
  assert.equal(total([{ price: 2, count: 3 }, { price: 5, count: 1 }]), 11)
})
`,
}

/** Recipes for contracts, as `profiles` in retinue.yaml would have them. */
export const DEMO_PROFILES = {
  researcher: { description: 'Looks and reports, changes nothing.', mode: 'plan' as const },
}

export const DEMO_SCRIPT = `# What the scripted model says to each agent, turn by turn. "expect" is checked against what the tools really answered.
# The delays are there so that the tree can be seen at work.
agents:
  root:
    - text: "Three pieces of work that do not need each other. Each goes to a sub-agent, under a contract of its own."
      calls:
        - spawn: { task: "Who uses total() of src/cart.js?", profile: researcher }
        - spawn: { task: "Document total() of src/cart.js.", owns: ["docs/**"] }
        - spawn: { task: "The test of total() fails. Mend the code.", owns: ["src/**"], checks: ["node --test"] }
    - expect: { contains: ["a1", "a2", "a3"] }
      calls:
        - spawn_await: { job_ids: "*" }
    - expect: { contains: ["[a1: OK]", "[a2: OK]", "[a3: OK]"] }
      text: "All three are back, and what two of them wrote is merged. I look at it."
      calls:
        - git_log: { limit: 3 }
        - read_file: { path: src/cart.js }
    - expect: { contains: ["Document total", "let i = 0"] }
      text: "Mended: the total left out the first item, because its loop began at 1; the test passes now, which was checked. Documented in docs/cart.md. Used by src/checkout.js alone."
  a1:
    - delay_ms: 300
      calls:
        - search_files: { pattern: "total\\\\(" }
    - expect: { contains: "src/checkout.js" }
      delay_ms: 300
      text: "Besides its test, only src/checkout.js uses total(): it shows the sum to whoever pays."
  a2:
    - delay_ms: 300
      calls:
        - read_file: { path: src/cart.js }
        - find_files: { pattern: "**/*.md" }
    - expect: { contains: ["total(items)", "README.md"] }
      delay_ms: 300
      text: "A page about it, and a link to the page."
      calls:
        - write_file: { path: docs/cart.md, content: "# The cart\\n\\n\`total(items)\` adds up price times count of every item.\\n" }
        - edit_file: { path: README.md, old_text: "A very small shop.", new_text: "A very small shop. See docs/cart.md." }
    - expect: { contains: "Not allowed" }
      delay_ms: 300
      text: "docs/cart.md says what total() does. The README does not link to it: I may write below docs only, and was refused."
  a3:
    - calls:
        - run_command: { command: "node --test" }
        - read_file: { path: src/cart.js }
    - expect: { contains: ["not ok", "let i = 1"] }
      delay_ms: 200
      text: "The loop starts at the second item."
      calls:
        - edit_file: { path: src/cart.js, old_text: "let i = 1", new_text: "let i = 0" }
    - delay_ms: 200
      text: "The loop of total() began at 1 and left out the first item. It begins at 0 now."
`
