// Runs once, alone.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { placeOf } from './support/runner/place.ts'
import { runJobs } from './support/runner/pool.ts'
import type { FileResult } from './support/runner/worker-process.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const root = temporaryDirectory()
const CLEANUP = new URL('support/cleanup.ts', import.meta.url).href

const FILES = {
  'passes.test.ts': "test('one', () => {})\ntest('another', () => {})",
  'differs.test.ts': "test('differs', () => assert.deepEqual({ a: 1 }, { a: 2 }))",
  'throws.test.ts': "test('fine', () => {})\nthrow new Error('at its top level')",
  'dies.test.ts': "test('fine', () => {})\ntest('dies', () => void process.kill(process.pid, 'SIGKILL'))",
  'waits.test.ts': "test('waits', () => new Promise(() => {}))",
  'stalls.test.ts': "test('fine', () => {})\nawait new Promise(() => {})",
  'later.test.ts': "setTimeout(() => { throw new Error('later') }, 50)\ntest('fine', () => {})",
  'rejects.test.ts': `test('fine', async () => {
    await null
    void Promise.reject(new Error('that nobody awaits'))
    await new Promise(setImmediate)
  })`,
  'unclean.test.ts': `afterwards(undefined, () => { throw new Error('at its end') })\ntest('fine', () => {})`,
  'cleans.test.ts':
    "afterwards(undefined, () => console.log('end of cleans'))\ntest('cleans', () => console.log('test of cleans'))",
  'pid-1.test.ts': 'test(`in ${process.pid}`, () => {})',
  'pid-2.test.ts': 'test(`in ${process.pid}`, () => {})',
}

const HEAD = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterwards } from '${CLEANUP}'
`

for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(root, name), `${HEAD}${text}\n`)

const results = new Map<string, FileResult>()

const run = async (names: string[], { isAlone = false, execArgv = [] as string[] } = {}): Promise<void> => {
  const jobs = names.map((file) => ({ file, database: 'sqlite' as const, isAlone }))
  // Node would not run files in a file that it runs itself.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
  const { signal } = new AbortController()
  await runJobs({
    root,
    jobs,
    atOnce: 1,
    env,
    execArgv,
    signal,
    onResult: ({ file }, result) => void results.set(file, result),
  })
}

/** The names of the tests of a file that ended so. */
const ended = (file: string, type: 'test:pass' | 'test:fail'): string[] =>
  (results.get(file)?.events ?? []).flatMap((event) => (event.type === type ? [String(event.data.name)] : []))

const textOf = (file: string): string =>
  JSON.stringify(results.get(file)?.events, (_, value) => (value instanceof Error ? value.message : value))

const fails = (file: string): boolean => ended(file, 'test:fail').some((name) => name.endsWith(file))

await run(Object.keys(FILES))

describe('files that share a process', () => {
  test('tests pass and fail, with the difference', () => {
    assert.deepEqual(ended('passes.test.ts', 'test:pass'), ['one', 'another'])
    assert.deepEqual(ended('differs.test.ts', 'test:fail'), ['differs'])
    assert.match(textOf('differs.test.ts'), /strictly deep-equal/)
  })

  for (const [file, why] of [
    ['throws.test.ts', /at its top level/],
    ['dies.test.ts', /ended before it, with SIGKILL/],
    ['waits.test.ts', /Nothing is left that could end/],
    ['stalls.test.ts', /Nothing is left that could end/],
    ['later.test.ts', /later/],
    ['rejects.test.ts', /that nobody awaits/],
    ['unclean.test.ts', /at its end/],
  ] as const) {
    test(`a file that fails outside of its tests is named: ${file}`, () => {
      assert.ok(fails(file))
      assert.match(textOf(file), why)
    })
  }

  test('what is registered for the end of a file runs after its tests, and before the next file', () => {
    const texts = (results.get('cleans.test.ts')?.events ?? []).map(({ data }) => data.message).filter((text) => text)
    assert.deepEqual(texts.join('').split('\n').filter(Boolean), ['test of cleans', 'end of cleans'])
  })

  test('files after one whose process ended run in another process, which they share', () => {
    assert.deepEqual(ended('pid-1.test.ts', 'test:pass'), ended('pid-2.test.ts', 'test:pass'))
    assert.equal(ended('pid-1.test.ts', 'test:pass').length, 1)
  })
})

test('a file that is alone has a process of its own', async () => {
  await run(['pid-1.test.ts', 'pid-2.test.ts'], { isAlone: true })
  assert.notDeepEqual(ended('pid-1.test.ts', 'test:pass'), ended('pid-2.test.ts', 'test:pass'))
})

test('options of node select tests', async () => {
  await run(['passes.test.ts', 'cleans.test.ts'], { execArgv: ['--test-name-pattern=another'] })
  assert.deepEqual(ended('passes.test.ts', 'test:pass'), ['another'])
  assert.deepEqual([...ended('cleans.test.ts', 'test:pass'), ...ended('cleans.test.ts', 'test:fail')], [])
})

const place = (text: string) => {
  const file = path.join(root, 'place.test.ts')
  writeFileSync(file, text)
  return placeOf(file)
}

describe('the first line of a file', () => {
  test('names its databases, and whether it is alone', () => {
    assert.deepEqual(place('// Runs on SQLite.\n'), { databases: ['sqlite'], isAlone: false })
    assert.deepEqual(place('// Runs on SQLite and PostgreSQL, alone.\n'), {
      databases: ['sqlite', 'postgres'],
      isAlone: true,
    })
  })

  for (const change of [
    'process.env.SVC_URL = "x"',
    'delete process.env.SVC_URL',
    'Object.assign(process.env, {})',
    'process.chdir("/")',
    'globalThis.fetch = () => {}',
    'mock.method(crypto.subtle, "verify")',
  ]) {
    test(`a file that changes the process must be alone: ${change}`, () => {
      assert.throws(() => place(`// Runs once.\n${change}\n`), /must be\n {2}\/\/ Runs once, alone\./)
      assert.ok(place(`// Runs once, alone.\n${change}\n`).isAlone)
    })
  }

  test('a mock of a test ends with it', () => {
    assert.equal(place('// Runs once.\nt.mock.method(process, "cwd")\n').isAlone, false)
  })

  test('a group that awaits is refused', () => {
    assert.throws(() => place("// Runs once.\ndescribe('a group', async () => {\n"), /is awaited before `describe`/)
  })
})
