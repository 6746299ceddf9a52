/** The project that the demo works on, and the script of the model that works on it. */
export const DEMO_TASK = 'The test of the shopping cart fails. Find out why, mend it, and show that it passes.'

export const DEMO_FILES = {
  'package.json': '{ "name": "shop", "private": true, "type": "module" }\n',
  'src/cart.js': `export function total(items) {
  let sum = 0
  for (let i = 1; i < items.length; i++) sum += items[i].price * items[i].count
  return sum
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

export const DEMO_SCRIPT = `# What the scripted model says, turn by turn. "expect" is checked against what the tools really answered.
agents:
  root:
    - text: "I run the test first, and look at what there is."
      calls:
        - run_command: { command: "node --test" }
        - find_files: { pattern: "**/*.js" }
    - expect: { contains: ["not ok", "src/cart.js"] }
      text: "It fails. I read the code and its test side by side."
      calls:
        - read_file: { path: src/cart.js }
        - read_file: { path: test/cart.test.js }
    - expect: { contains: "let i = 1" }
      text: "The loop starts at the second item."
      calls:
        - edit_file: { path: src/cart.js, old_text: "let i = 1", new_text: "let i = 0" }
    - text: "And now the test again; then I try to publish, which is denied."
      calls:
        - run_command: { command: "node --test" }
        - run_command: { command: "npm publish" }
    - expect: { contains: ["exit code 0", "Not allowed"] }
      calls:
        - git_diff: {}
    - expect: { contains: "let i = 0" }
      text: "The total left out the first item: the loop began at 1. It begins at 0 now, and the test passes. Publishing was refused by a rule."
`
