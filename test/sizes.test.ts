// Runs once.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { temporaryDirectory } from './support/temporary-directory.ts'

const ROOT = path.join(import.meta.dirname, '..')
const FOLDERS = ['src', 'sdk/src', 'bench', 'scripts']

const FILE_LIMIT = 250
/** A function that lies inside another one and has several lines counts for itself alone: factories hold many. */
const FUNCTION_LIMIT = 40

/** Files above the limit, and why each is one subject. An entry that is not needed any more fails the test. */
const LONG_FILES: Record<string, string> = {
  'scripts/imports.ts': 'a table: which folder may import from where',
  'sdk/src/admin/api-types.ts': 'made from the OpenAPI document',
  'src/config/settings.ts': 'a table: the settings',
  'src/core.ts': 'the composition root of the domain',
  'src/http/route.ts': 'the columns of the table of routes',
  'src/preview/states.ts': 'a table: every page in every state',
  'src/service.ts': 'the composition root of a serving process',
  'src/web/account/account.ts': 'one factory: the forms of the account page',
  'src/storage/tables.ts': 'a table: the columns of the database',
  'src/web/routes.ts': 'a table: the routes on one page',
}

/** Functions above the limit, as `file name`, and why. An entry that is not needed any more fails the test. */
const LONG_FUNCTIONS: Record<string, string> = {
  'src/config/subject-settings.ts settingsOfSubjects': 'a table: the settings of each subject',
  'src/core.ts createCore': 'a composition root: it connects every subject',
  'src/web/account/account.ts createAccount': 'one factory: the forms of the account page',
  'src/preview/client-states.ts clientStatesOf': 'a table: the pages of clients in every state',
  'src/preview/email-sign-in-states.ts emailSignInStatesOf': 'a table: the pages of sign-in by mail in every state',
  'src/preview/pages.ts createAllPages': 'a table: all pages',
  'src/preview/second-factor-states.ts secondFactorStatesOf': 'a table: the pages of second factors in every state',
  'src/preview/states.ts statesOf': 'a table: every page in every state',
  'src/web/routes.ts createRoutes': 'a table: the routes on one page',
  'src/service.ts createService': 'a composition root: it connects core, HTTP, metrics and cleanup',
}

interface Span {
  offset: number
  length: number
}

interface Measured {
  /** The file and the name. */
  title: string
  lines: number
  /** Without those of functions inside that have several lines. */
  ownLines: number
}

const linesOf = (text: string): number => text.split('\n').length

const fileLines = (folder: string): Map<string, number> =>
  new Map(
    globSync(
      FOLDERS.map((name) => `${name}/**/*.ts`),
      { cwd: folder },
    )
      .toSorted()
      .map((file) => [
        file.replaceAll(path.sep, '/'),
        linesOf(readFileSync(path.join(folder, file), 'utf8').trimEnd()),
      ]),
  )

/** Where the functions of each file are. The linter tells, since no function is shorter than its limit here. */
const findFunctions = (t: TestContext, folder: string): Map<string, Span[]> => {
  const config = path.join(temporaryDirectory(t), 'oxlintrc.json')
  const rules = { 'max-lines-per-function': ['error', { max: 0 }] }
  writeFileSync(config, JSON.stringify({ plugins: [], categories: { correctness: 'off' }, rules }))
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(ROOT, 'node_modules/oxlint/bin/oxlint'), '--config', config, '--format', 'json', ...FOLDERS],
    { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 },
  )
  assert.equal(stderr, '')
  const { diagnostics }: { diagnostics: { filename: string; labels: [{ span: Span }] }[] } = JSON.parse(stdout)
  const spans = diagnostics.map(({ filename, labels: [{ span }] }) => ({ file: filename, span }))
  return new Map([...Map.groupBy(spans, ({ file }) => file)].map(([file, all]) => [file, all.map(({ span }) => span)]))
}

const nameOf = (before: string, text: string): string =>
  /^(?:async )?function\*? (\w+)/.exec(text)?.[1] ??
  /(\w+)(?:: [^=\n]+)?(?: ?[=:] )?(?:async )?$/.exec(before)?.[1] ??
  '(anonymous)'

const measureFunctions = (file: string, bytes: Buffer, spans: Span[]): Measured[] => {
  const lineAt = (offset: number): number => linesOf(bytes.toString('utf8', 0, offset))
  const all = spans.map((span) => ({
    ...span,
    end: span.offset + span.length,
    first: lineAt(span.offset),
    last: lineAt(span.offset + span.length),
  }))
  return all.map((one) => {
    const inside = all.filter(({ offset, end, first, last }) => offset > one.offset && end <= one.end && last > first)
    const linesInside = new Set(
      inside.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, i) => first + i)),
    )
    const lines = one.last - one.first + 1
    return {
      title: `${file} ${nameOf(bytes.toString('utf8', 0, one.offset), bytes.toString('utf8', one.offset))}`,
      lines,
      ownLines: lines - linesInside.size,
    }
  })
}

const measureAll = (t: TestContext, folder: string): Measured[] =>
  [...findFunctions(t, folder)].flatMap(([file, spans]) =>
    measureFunctions(file, readFileSync(path.join(folder, file)), spans),
  )

/** Functions and files that are too long and not on the list, and entries of the list that are not too long. */
const findProblems = (
  sizes: Iterable<[title: string, lines: number]>,
  limit: number,
  exempt: Record<string, string>,
) => {
  const long = [...sizes].filter(([, lines]) => lines > limit)
  return [
    ...long.filter(([title]) => !(title in exempt)).map(([title, lines]) => `${title}: ${lines} lines`),
    ...Object.keys(exempt)
      .filter((title) => !long.some(([other]) => other === title))
      .map((title) => `${title}: needs no exemption`),
  ]
}

/** Nine bytes for the three letters of the comment: offsets are in bytes. */
const SHAPES = `// €€€
export const createThing = async <T>(value: T): Promise<unknown> => {
  const count = (): number => {
    return 1
  }
  const all = [1].map((one) => one + count())
  return {
    all,
    stop: async () => {
      await value
    },
  }
}

function tell() {
  return 1
}

class Door {
  open() {
    return tell()
  }
}

void new Door()
`

const median = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

describe('sizes', () => {
  test(`files have at most ${FILE_LIMIT} lines, except those on the list`, () => {
    const sizes = fileLines(ROOT)
    assert.ok(sizes.size > 200)
    assert.deepEqual(findProblems(sizes, FILE_LIMIT, LONG_FILES), [])
  })

  test(`functions have at most ${FUNCTION_LIMIT} lines of their own, except those on the list; most have 5 to 11`, (t) => {
    const functions = measureAll(t, ROOT)
    assert.ok(functions.length > 2000)
    const sizes = functions.map(({ title, ownLines }): [string, number] => [title, ownLines])
    assert.deepEqual(findProblems(sizes, FUNCTION_LIMIT, LONG_FUNCTIONS), [])
    const middle = median(functions.map(({ lines }) => lines).filter((lines) => lines > 1))
    assert.ok(middle >= 5 && middle <= 11, String(middle))
  })

  test('a file above the limit is found, and so is an unnecessary entry of the list', (t) => {
    const folder = temporaryDirectory(t)
    mkdirSync(path.join(folder, 'src/deep'), { recursive: true })
    writeFileSync(path.join(folder, 'src/deep/long.ts'), 'void 0\n'.repeat(4))
    writeFileSync(path.join(folder, 'src/short.ts'), 'void 0\n'.repeat(3))
    const problemsWith = (exempt: Record<string, string>) => findProblems(fileLines(folder), 3, exempt)
    assert.deepEqual(problemsWith({}), ['src/deep/long.ts: 4 lines'])
    assert.deepEqual(problemsWith({ 'src/deep/long.ts': 'a table' }), [])
    assert.deepEqual(problemsWith({ 'src/deep/long.ts': 'a table', 'src/short.ts': 'short', 'src/gone.ts': 'gone' }), [
      'src/short.ts: needs no exemption',
      'src/gone.ts: needs no exemption',
    ])
  })

  test('functions of every form are measured without their inner functions of several lines', (t) => {
    const folder = temporaryDirectory(t)
    mkdirSync(path.join(folder, 'src'))
    writeFileSync(path.join(folder, 'src/shapes.ts'), SHAPES)
    const sizes = measureAll(t, folder).map(({ title, lines, ownLines }) => `${title}: ${ownLines} of ${lines}`)
    assert.deepEqual(sizes.sort(), [
      'src/shapes.ts (anonymous): 1 of 1',
      'src/shapes.ts count: 3 of 3',
      'src/shapes.ts createThing: 6 of 12',
      'src/shapes.ts open: 3 of 3',
      'src/shapes.ts stop: 3 of 3',
      'src/shapes.ts tell: 3 of 3',
    ])
  })
})
