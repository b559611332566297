// Runs once.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'

const ROOT = path.join(import.meta.dirname, '..')

/** The checked files: documents, `src/` and `sdk/src/` as a whole, messages included; elsewhere comments and titles of tests. */
const COVERED: readonly string[] = [
  '*.md',
  '.github/**/*.md',
  'bench/**/*.{md,ts}',
  'bin/*.js',
  'deploy/**/*.md',
  'docs/**/*.md',
  'scripts/**/*.{ts,sh}',
  'sdk/**/*.{md,js,ts}',
  'src/**/*.{js,ts,sql}',
  'test/**/*.{md,ts}',
]

const EXCLUDED: readonly string[] = ['**/node_modules', 'sdk/dist/**', 'test/words.test.ts']

/** Words that this repository does without, and what to write in their place. */
const REFUSED: readonly { pattern: RegExp; instead: string }[] = [
  { pattern: /\bhe\b|\bhis\b|\bhim(?:self)?\b/i, instead: 'the user, an operator, they' },
  { pattern: /\bsomebody\b/i, instead: 'a user, a client, an attacker' },
  { pattern: /\bwho(?:m|so)?ever\b/i, instead: 'anyone who, the user who' },
  { pattern: /\bnobody['’]s\b/i, instead: 'nobody owns it, of no user' },
  { pattern: /\b(?:against|by|for|from|of|to|with) who\b/i, instead: 'a noun before "who"' },
  { pattern: /\banew\b/i, instead: 'again, new' },
  { pattern: /\bdear(?:er|est|ly)?\b/i, instead: 'expensive, slow' },
  { pattern: /\bmeanwhile\b/i, instead: 'in the meantime, while …' },
  { pattern: /\bhear(?:s|d)? of\b/i, instead: 'learns about, receives' },
  { pattern: /\bfor ever\b/i, instead: 'indefinitely, without limit' },
]

/** These are the sentence of an API error, and the tag of Hebrew, which may contain a refused word. */
const QUOTATIONS: readonly string[] = ['You were logged out meanwhile', "he: 'עברית'", "iw: 'he'", '`iw` means `he`']

const COMMENTS = /(?<=^|[\s(,])\/\*[^]*?\*\/|(?<=^|\s)\/\/.*(?:\n\s*\/\/.*)*/gm
const TEST_TITLES = /\b(?:describe|it|suite|test\w*)(?:\.\w+)?\(\s*(?<quote>['"`])(?:\\.|(?!\k<quote>)[^])*\k<quote>/g
const SHELL_COMMENTS = /(?<=^|\s)#.*(?:\n\s*#.*)*/gm

/** The pieces of a file that are written for people. */
const proseOf = (file: string, text: string): string[] => {
  if (file.endsWith('.md') || /^(?:sdk\/)?src\//.test(file)) return text.split(/\n{2,}/)
  const patterns = file.endsWith('.sh') ? [SHELL_COMMENTS] : [COMMENTS, TEST_TITLES]
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([piece]) => piece))
}

/** Without the marks of comments and with single spaces, so that a line break hides no phrase. */
const flatten = (piece: string): string => piece.replaceAll(/\n\s*(?:\*|\/\/|--|#+|>)?\s*/g, ' ')

const withoutQuotations = (text: string): string =>
  QUOTATIONS.reduce((rest, quotation) => rest.replaceAll(quotation, ''), text)

/** Each use of a refused word, as `file: what stands around it (write: …)`. */
const findRefused = (file: string, text: string): string[] =>
  proseOf(file, text).flatMap((piece) => {
    const prose = withoutQuotations(flatten(piece))
    return REFUSED.flatMap(({ pattern, instead }) =>
      [...prose.matchAll(new RegExp(pattern, 'gi'))].map(
        ({ index }) => `${file}: ${prose.slice(Math.max(0, index - 30), index + 40)} (write: ${instead})`,
      ),
    )
  })

describe('plain words', () => {
  test('comments, test titles and documents contain no refused word', () => {
    const files = COVERED.flatMap((pattern) => {
      const found = globSync(pattern, { cwd: ROOT, exclude: [...EXCLUDED] })
      assert.ok(found.length > 0, `${pattern} finds no file`)
      return found
    })
    assert.deepEqual(
      files.flatMap((file) => findRefused(file, readFileSync(path.join(ROOT, file), 'utf8'))),
      [],
    )
  })

  test('a refused word is found in a document, a comment and a test title', () => {
    const program = [
      "const his = 'somebody'",
      '/** Waits for',
      ' * ever. */',
      "test('whoever asks', () => {}) // it is nobody’s",
      '// reads it',
      '// anew',
    ].join('\n')
    assert.equal(findRefused('x.ts', program).length, 4)
    assert.equal(findRefused('x.md', 'A password, for\nwho has one. The user who asks. He.').length, 2)
    assert.equal(findRefused('src/x.sql', '-- none for\n-- who asks\nSELECT id').length, 1)
    assert.equal(findRefused('x.sh', 'he=1\n# A dear\n# price: $he').length, 2)
  })

  test('a refused word is found in a message of the service, but not in the sentence that may contain it', () => {
    assert.equal(findRefused('src/x.ts', "log('told to somebody')").length, 1)
    assert.deepEqual(findRefused('src/x.ts', "log('You were logged out meanwhile')"), [])
  })

  test('other words and code are left alone', () => {
    assert.deepEqual(findRefused('x.ts', "const anew = 'dear' + his.he // the theory of this"), [])
    assert.deepEqual(findRefused('x.md', 'The history of a user to whom they write'), [])
  })
})
