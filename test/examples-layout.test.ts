// Runs once.
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { CLIENT_EXAMPLES, EXAMPLES, EXAMPLES_FOLDER } from './support/examples/examples.ts'

/** No application, but programs that each verify tokens. */
const RECIPES = 'verify-locally'
/** Examples that no test starts; their READMEs say so. */
const NOT_RUN = ['laravel', 'rails']
/** Its tests are no part of an application. */
const TESTS = ['**/test_*.py', '**/*_test.go', '**/*.spec.js', '**/playwright.config.js']
const INSTALLED = ['**/node_modules/**', '**/.venv/**', '**/.next/**', '**/dist/**', '**/.build/**']

const folders = readdirSync(EXAMPLES_FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== RECIPES)
  .map(({ name }) => name)
  .toSorted()

/** Their files are longer, since the language puts imports and the handling of errors on lines of their own. */
const COUNTED_BY_OWN_LINES = ['go', 'second-application-go']

/**
 * Next.js wants a file for each page, and for each part that runs in the browser; mcp has a client, too; the second
 * applications log users in and out themselves; go has a function for its tests.
 */
const LIMITS: Record<string, number> = {
  go: 110,
  nextjs: 130,
  mcp: 130,
  'second-application-flask': 110,
  'second-application-go': 110,
}
const LIMIT = 100

/** The lines of Go that are written for this application: not blank, no comment, no import. */
const ownLines = (text: string): string[] =>
  text
    .replaceAll(/^import \([^]*?^\)$/gm, '')
    .split('\n')
    .filter((line) => !/^\s*(?:$|\/\/)/.test(line))

const allLines = (text: string): string[] => text.trimEnd().split('\n')

describe('the examples', () => {
  test('tests start each of them, except those whose README says that they do not', () => {
    assert.deepEqual(folders, [...[...EXAMPLES, ...CLIENT_EXAMPLES].map(({ name }) => name), ...NOT_RUN].toSorted())
    for (const name of NOT_RUN)
      assert.match(readFileSync(path.join(EXAMPLES_FOLDER, name, 'README.md'), 'utf8'), /^# \w+ \(not run by the tests/)
  })

  for (const name of folders) {
    test(`examples/${name} has less than ${LIMITS[name] ?? LIMIT} lines of code, and a README of at most ten`, () => {
      const files = globSync(`${name}/**/{*.{js,jsx,py,go,ru,rb,php,html,erb},Gemfile}`, {
        cwd: EXAMPLES_FOLDER,
        exclude: [...INSTALLED, ...TESTS],
      })
      const linesOf = COUNTED_BY_OWN_LINES.includes(name) ? ownLines : allLines
      const lines = files.flatMap((file) => linesOf(readFileSync(path.join(EXAMPLES_FOLDER, file), 'utf8')))
      assert.ok(lines.length > 20 && lines.length < (LIMITS[name] ?? LIMIT), `${lines.length} lines`)
      const readme = readFileSync(path.join(EXAMPLES_FOLDER, name, 'README.md'), 'utf8').trimEnd()
      assert.ok(readme.split('\n').length <= 10)
    })
  }
})
