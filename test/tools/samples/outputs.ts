import type { TestSummary } from '../../../src/tools/tests/summary.js'

type Sample = { name: string; output: string; summary: TestSummary }

/** What runners print that are not installed everywhere, shortened to what matters. */
export const SAMPLES: Sample[] = [
  {
    name: 'jest',
    output: `PASS src/b.test.js
FAIL src/a.test.js
  ● sums › adds

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 2

      at Object.toBe (src/a.test.js:3:17)

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 1 skipped, 1 todo, 4 passed, 7 total
Snapshots:   0 total
Time:        0.512 s
Ran all test suites.
`,
    summary: {
      format: 'jest',
      passed: 4,
      failed: 1,
      skipped: 2,
      failures: [
        {
          name: 'sums › adds',
          detail: [
            '    expect(received).toBe(expected) // Object.is equality',
            '    Expected: 3',
            '    Received: 2',
            '      at Object.toBe (src/a.test.js:3:17)',
          ],
        },
      ],
    },
  },
  {
    name: 'jest with a suite that does not load',
    output: `FAIL src/a.test.js
  ● Test suite failed to run

    Cannot find module './x'

Test Suites: 1 failed, 1 total
Tests:       0 total
Time:        0.2 s
`,
    summary: {
      format: 'jest',
      passed: 0,
      failed: 1,
      skipped: 0,
      failures: [{ name: 'Test suite failed to run', detail: ["    Cannot find module './x'"] }],
    },
  },
  {
    name: 'mocha',
    output: `
  sums
    ✔ keeps
    1) adds
    - waits

  1 passing (6ms)
  1 pending
  1 failing

  1) sums
       adds:

      AssertionError [ERR_ASSERTION]: 2 == 3
      + expected - actual

      at Context.<anonymous> (test/a.js:4:12)
`,
    summary: {
      format: 'mocha',
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [
        {
          name: 'sums adds',
          detail: [
            '      AssertionError [ERR_ASSERTION]: 2 == 3',
            '      + expected - actual',
            '      at Context.<anonymous> (test/a.js:4:12)',
          ],
        },
      ],
    },
  },
  {
    name: 'go',
    output: `=== RUN   TestAdd
    add_test.go:8: got 2, want 3
--- FAIL: TestAdd (0.00s)
=== RUN   TestKeep
--- PASS: TestKeep (0.00s)
=== RUN   TestWait
    add_test.go:14: later
--- SKIP: TestWait (0.00s)
FAIL
FAIL\texample.org/sums\t0.002s
ok  \texample.org/other\t0.001s
?   \texample.org/none\t[no test files]
FAIL\texample.org/broken [build failed]
FAIL
`,
    summary: {
      format: 'go',
      passed: 1,
      failed: 2,
      skipped: 1,
      failures: [
        { name: 'TestAdd', detail: [] },
        { name: 'example.org/broken [build failed]', detail: [] },
      ],
    },
  },
  {
    name: 'go without details',
    output: `ok  \texample.org/a\t0.002s
ok  \texample.org/b\t(cached)
?   \texample.org/none\t[no test files]
`,
    summary: { format: 'go', passed: 2, failed: 0, skipped: 0, failures: [] },
  },
  {
    name: 'rspec',
    output: `.F*

Pending: (Failures listed here are expected)

  1) Sums waits
     # later

Failures:

  1) Sums adds
     Failure/Error: expect(1 + 1).to eq 3

       expected: 3
            got: 2

Finished in 0.01 seconds (files took 0.1 seconds to load)
3 examples, 1 failure, 1 pending

Failed examples:

rspec ./spec/sums_spec.rb:5 # Sums adds
`,
    summary: {
      format: 'rspec',
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [
        {
          name: 'Sums adds',
          detail: ['     Failure/Error: expect(1 + 1).to eq 3', '       expected: 3', '            got: 2'],
        },
      ],
    },
  },
  {
    name: 'minitest',
    output: `Run options: --seed 1

.FS

Failure:
SumsTest#test_adds [test/sums_test.rb:6]:
Expected: 3
  Actual: 2

3 runs, 2 assertions, 1 failures, 0 errors, 1 skips
`,
    summary: { format: 'minitest', passed: 1, failed: 1, skipped: 1, failures: [] },
  },
  {
    name: 'maven surefire',
    output: `[INFO] Running org.example.SumsTest
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1, Time elapsed: 0.05 s <<< FAILURE! -- in org.example.SumsTest
[ERROR] org.example.SumsTest.adds -- Time elapsed: 0.01 s <<< FAILURE!
[INFO] Results:
[INFO]
[ERROR] Failures:
[ERROR]   SumsTest.adds:12 expected: <3> but was: <2>
[INFO]
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1
[INFO] BUILD FAILURE
`,
    summary: {
      format: 'surefire',
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [{ name: 'SumsTest.adds:12 expected: <3> but was: <2>', detail: [] }],
    },
  },
  {
    name: 'gradle',
    output: `> Task :test FAILED

SumsTest > adds() FAILED
    org.opentest4j.AssertionFailedError at SumsTest.java:9

3 tests completed, 1 failed, 1 skipped
`,
    summary: {
      format: 'gradle',
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [{ name: 'SumsTest > adds()', detail: ['    org.opentest4j.AssertionFailedError at SumsTest.java:9'] }],
    },
  },
  {
    name: 'phpunit',
    output: `PHPUnit 11.0.0 by Sebastian Bergmann and contributors.

.FS                                                                 3 / 3 (100%)

There was 1 failure:

1) SumsTest::testAdds
Failed asserting that 2 is identical to 3.

/app/tests/SumsTest.php:9

FAILURES!
Tests: 3, Assertions: 2, Failures: 1, Skipped: 1.
`,
    summary: {
      format: 'phpunit',
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [
        {
          name: 'SumsTest::testAdds',
          detail: ['Failed asserting that 2 is identical to 3.', '/app/tests/SumsTest.php:9'],
        },
      ],
    },
  },
  {
    name: 'phpunit, all well',
    output: `..\n\nTime: 00:00.004, Memory: 8.00 MB\n\nOK (2 tests, 3 assertions)\n`,
    summary: { format: 'phpunit', passed: 2, failed: 0, skipped: 0, failures: [] },
  },
  {
    name: 'dotnet',
    output: `  Failed Sums.Tests.Adds [12 ms]
  Error Message:
   Assert.Equal() Failure: Values differ

Failed!  - Failed:     1, Passed:     4, Skipped:     1, Total:     6, Duration: 40 ms - Sums.Tests.dll (net8.0)
Passed!  - Failed:     0, Passed:     2, Skipped:     0, Total:     2, Duration: 10 ms - Other.Tests.dll (net8.0)
`,
    summary: {
      format: 'dotnet',
      passed: 6,
      failed: 1,
      skipped: 1,
      failures: [{ name: 'Sums.Tests.Adds', detail: ['  Error Message:', '   Assert.Equal() Failure: Values differ'] }],
    },
  },
  {
    name: 'bun',
    output: `bun test v1.2.0

a.test.ts:
error: expect(received).toBe(expected)
(fail) sums > adds [0.40ms]
(pass) sums > keeps [0.10ms]
(skip) sums > waits

 1 pass
 1 skip
 1 fail
 2 expect() calls
Ran 3 tests across 1 file. [12.00ms]
`,
    summary: { format: 'bun', passed: 1, failed: 1, skipped: 1, failures: [{ name: 'sums > adds', detail: [] }] },
  },
  {
    name: 'deno',
    output: `running 3 tests from ./a_test.ts
adds ... FAILED (3ms)
keeps ... ok (0ms)
waits ... ignored (0ms)

 ERRORS

adds => ./a_test.ts:1:6
error: AssertionError: Values are not equal.

 FAILURES

adds => ./a_test.ts:1:6

FAILED | 1 passed | 1 failed | 1 ignored (5ms)
`,
    summary: {
      format: 'deno',
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [{ name: 'adds => ./a_test.ts:1:6', detail: ['error: AssertionError: Values are not equal.'] }],
    },
  },
  {
    name: 'ava',
    output: `
  ✔ keeps
  ✘ [fail]: adds Difference
  ─

  adds

  1 test failed
  1 test passed
  1 test skipped
`,
    summary: { format: 'ava', passed: 1, failed: 1, skipped: 1, failures: [{ name: 'adds', detail: [] }] },
  },
  {
    name: 'exunit',
    output: `..

  1) test adds (SumsTest)
     test/sums_test.exs:4
     Assertion with == failed

.
Finished in 0.03 seconds (0.00s async, 0.03s sync)
4 tests, 1 failure, 1 skipped
`,
    summary: {
      format: 'exunit',
      passed: 2,
      failed: 1,
      skipped: 1,
      failures: [
        {
          name: 'test adds (SumsTest)',
          detail: ['     test/sums_test.exs:4', '     Assertion with == failed'],
        },
      ],
    },
  },
  {
    name: 'TAP',
    output: `TAP version 13
1..4
ok 1 - keeps
not ok 2 - adds
  ---
  message: two is not three
  ...
ok 3 - waits # SKIP later
not ok 4 - dreams # TODO some day
`,
    summary: {
      format: 'tap',
      passed: 1,
      failed: 1,
      skipped: 2,
      failures: [{ name: 'adds', detail: ['  ---', '  message: two is not three', '  ...'] }],
    },
  },
]
