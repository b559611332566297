import { type TestContext, after } from 'node:test'

type Undo = () => unknown

let exitsOnSignals = false

// A signal would end this process without its 'exit' event, which kills children and removes folders.
const exitOnSignals = () => {
  if (exitsOnSignals) return
  exitsOnSignals = true
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
}

const lastActs = new Set<() => void>()

const actAll = (): void => {
  for (const act of [...lastActs].toReversed()) act()
}

/**
 * Runs a function if this process ends before the cleanup, the latest first. The returned function cancels it.
 */
export const beforeExit = (act: () => void): (() => void) => {
  // One listener for all, because many would look like a leak.
  if (lastActs.size === 0) process.off('exit', actAll).once('exit', actAll)
  lastActs.add(act)
  return () => void lastActs.delete(act)
}

const stacks = new WeakMap<object, Undo[]>()
const wholeFile = {}

/** Runs all of them, whatever one throws, since the next file would inherit what is left. */
const runAll = async (undos: Undo[]): Promise<void> => {
  const errors: unknown[] = []
  for (const undo of undos.splice(0).toReversed()) {
    try {
      await undo()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors.length > 1 ? new AggregateError(errors) : errors[0]
}

/** Runs a function after the test `t`, or after the file if no test is given. The last one registered runs first. */
export const afterwards = (t: TestContext | undefined, undo: Undo): void => {
  exitOnSignals()
  const scope = t ?? wholeFile
  const stack = stacks.get(scope)
  if (stack) return void stack.push(undo)
  const undos = [undo]
  stacks.set(scope, undos)
  if (t) t.after(() => runAll(undos))
  else after(() => runAll(undos))
}

const lasting: Undo[] = []
let filesAreOutlived = false

/** Begins a file in a process that runs several. The returned function runs what was registered for its end. */
export const beginFile = (): (() => Promise<void>) => {
  const undos: Undo[] = []
  stacks.set(wholeFile, undos)
  filesAreOutlived = true
  return () => runAll(undos)
}

/** Runs a function at the end of a process that runs several files, or after the file where it is the only one. */
export const untilProcessEnds = (undo: Undo): void => {
  if (filesAreOutlived) lasting.push(undo)
  else afterwards(undefined, undo)
}

export const endLasting = (): Promise<void> => runAll(lasting)
