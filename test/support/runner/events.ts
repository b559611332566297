import path from 'node:path'
import { inspect } from 'node:util'

/** An event of node's test runner, as the reporter of a run reads it. */
export type TestEvent = { type: string; data: Record<string, unknown> }

/** The counts of the tests of a file, by what became of them. */
export type Counts = Record<'tests' | 'suites' | 'passed' | 'failed' | 'cancelled' | 'skipped' | 'todo', number>

/** The end of a file. `errors` are those outside of its tests. */
export type Ended = { errors: string[]; durationMs: number; cpuMs: number }

/** What a worker tells its parent. */
export type Message = { event: TestEvent } | { ended: Ended }

const SHOWN = new Set(['test:start', 'test:pass', 'test:fail', 'test:diagnostic', 'test:summary'])

/** The counts of a file among its diagnostics: those of the whole run are printed once. */
const COUNT = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

type Failure = Error & { failureType?: string }

/** An error as text, since the properties of errors do not survive between processes. */
const describeError = (error: Failure): { text: string; failureType: string | undefined } => {
  const { failureType, cause } = error
  return { text: inspect(failureType === undefined ? error : cause), failureType }
}

/** What crosses from a worker to the reporter, or undefined where no reporter shows it. */
export const describe = ({ type, data }: { type: string; data: unknown }, file: string): TestEvent | undefined => {
  if (!SHOWN.has(type)) return undefined
  const { message, name, nesting, details, ...rest } = data as TestEvent['data']
  if (nesting === 0 && typeof message === 'string' && COUNT.test(message)) return undefined
  // Node's stand-in for a file without tests.
  if (name === file) return undefined
  const { error, ...more } = (details ?? {}) as { error?: Failure }
  return {
    type,
    data: { ...rest, message, name, nesting, details: { ...more, ...(error && { error: describeError(error) }) } },
  }
}

/** A failure for node's reporters, which show its cause. */
const failure = (text: string, failureType: string | undefined): Error =>
  Object.assign(new Error(text), {
    code: 'ERR_TEST_FAILURE',
    failureType,
    cause: { [inspect.custom]: () => text },
  })

/** The event for the reporter, on the other side. */
export const restore = ({ type, data }: TestEvent): TestEvent => {
  const { error, ...details } = (data.details ?? {}) as { error?: ReturnType<typeof describeError> }
  if (error === undefined) return { type, data }
  return { type, data: { ...data, details: { ...details, error: failure(error.text, error.failureType) } } }
}

const fail = (data: TestEvent['data'], text: string): TestEvent => ({
  type: 'test:fail',
  data: { ...data, details: { duration_ms: 0, error: failure(text, 'testCodeFailure') } },
})

/** What a reporter shows for a file that has failed as a whole. */
export const failedFile = (file: string, text: string): TestEvent[] => {
  const data = { name: path.relative(process.cwd(), file), nesting: 0, file, line: 1, column: 1 }
  return [{ type: 'test:start', data }, fail(data, text)]
}

/** The ends of tests that had begun when their process ended. */
export const failedTests = (events: TestEvent[], text: string): TestEvent[] => {
  const open: TestEvent[] = []
  for (const event of events) {
    if (event.type === 'test:start') open.push(event)
    else if (event.type === 'test:pass' || event.type === 'test:fail') open.pop()
  }
  return open.toReversed().map(({ data }) => fail(data, text))
}
