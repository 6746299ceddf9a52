import { describe, expect, test } from 'vitest'
import { parseDiff } from '../../web/src/pages/run/diff/parse-diff.js'

describe('a diff as git writes it', () => {
  test('has files, hunks and numbered lines', () => {
    const diff = [
      'diff --git a/src/cart.js b/src/cart.js',
      'index 1234..5678 100644',
      '--- a/src/cart.js',
      '+++ b/src/cart.js',
      '@@ -2,3 +2,4 @@ export function total(items) {',
      '   let sum = 0',
      '-  for (let i = 1;',
      '+  // All of them.',
      '+  for (let i = 0;',
      '   return sum',
      '',
    ].join('\n')
    expect(parseDiff(diff)).toEqual([
      { kind: 'file', path: 'src/cart.js', change: 'modified', added: 2, removed: 1 },
      { kind: 'hunk', text: '@@ -2,3 +2,4 @@ export function total(items) {' },
      { kind: 'same', text: '  let sum = 0', old: 2, new: 2 },
      { kind: 'removed', text: '  for (let i = 1;', old: 3, new: null },
      { kind: 'added', text: '  // All of them.', old: null, new: 3 },
      { kind: 'added', text: '  for (let i = 0;', old: null, new: 4 },
      { kind: 'same', text: '  return sum', old: 4, new: 5 },
    ])
  })

  test('says what became of a file: added, deleted, renamed, binary', () => {
    const diff = [
      'diff --git a/new.md b/new.md',
      'new file mode 100644',
      'index 0000..1111',
      '--- /dev/null',
      '+++ b/new.md',
      '@@ -0,0 +1 @@',
      '+# New',
      '\\ No newline at end of file',
      'diff --git a/old.md b/old.md',
      'deleted file mode 100644',
      '--- a/old.md',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-# Old',
      'diff --git a/here.md b/there.md',
      'similarity index 100%',
      'rename from here.md',
      'rename to there.md',
      'diff --git a/a picture.png b/a picture.png',
      'index 1111..2222 100644',
      'Binary files a/a picture.png and b/a picture.png differ',
    ].join('\n')
    expect(parseDiff(diff)).toEqual([
      { kind: 'file', path: 'new.md', change: 'added', added: 1, removed: 0 },
      { kind: 'hunk', text: '@@ -0,0 +1 @@' },
      { kind: 'added', text: '# New', old: null, new: 1 },
      { kind: 'note', text: 'No newline at end of file' },
      { kind: 'file', path: 'old.md', change: 'deleted', added: 0, removed: 1 },
      { kind: 'hunk', text: '@@ -1 +0,0 @@' },
      { kind: 'removed', text: '# Old', old: 1, new: null },
      { kind: 'file', path: 'there.md', change: 'renamed', added: 0, removed: 0 },
      { kind: 'file', path: 'a picture.png', change: 'modified', added: 0, removed: 0 },
      { kind: 'note', text: 'Binary files a/a picture.png and b/a picture.png differ' },
    ])
  })

  test('is not taken in by lines of a file that look like a diff', () => {
    const diff = [
      'diff --git a/x.diff b/x.diff',
      '--- a/x.diff',
      '+++ b/x.diff',
      '@@ -1,2 +1,2 @@',
      '--- a/not-a-file',
      '+++ b/not-a-file',
      ' diff --git a/no b/no',
    ].join('\n')
    expect(parseDiff(diff)).toEqual([
      { kind: 'file', path: 'x.diff', change: 'modified', added: 1, removed: 1 },
      { kind: 'hunk', text: '@@ -1,2 +1,2 @@' },
      { kind: 'removed', text: '-- a/not-a-file', old: 1, new: null },
      { kind: 'added', text: '++ b/not-a-file', old: null, new: 1 },
      { kind: 'same', text: 'diff --git a/no b/no', old: 2, new: 2 },
    ])
  })

  test('reads names that git had to quote', () => {
    const diff = 'diff --git "a/gr\\303\\274n \\"x\\".md" "b/gr\\303\\274n \\"x\\".md"\nnew file mode 100644\n'
    expect(parseDiff(diff)).toEqual([{ kind: 'file', path: 'grün "x".md', change: 'added', added: 0, removed: 0 }])
  })
})

test('what a question shows of a change has no files and no numbers', () => {
  expect(parseDiff('@@ line 2 @@\n let sum = 0\n-old\n+new\n@@ line 9 @@\n+end')).toEqual([
    { kind: 'hunk', text: '@@ line 2 @@' },
    { kind: 'same', text: 'let sum = 0', old: null, new: null },
    { kind: 'removed', text: 'old', old: null, new: null },
    { kind: 'added', text: 'new', old: null, new: null },
    { kind: 'hunk', text: '@@ line 9 @@' },
    { kind: 'added', text: 'end', old: null, new: null },
  ])
})

test('what is no diff is shown as it is', () => {
  expect(parseDiff('nothing to see')).toEqual([{ kind: 'note', text: 'nothing to see' }])
  expect(parseDiff('')).toEqual([])
})
