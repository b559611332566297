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

/** Runs a function after the test `t`, or after the file if no test is given. The last one registered runs first. */
export const afterwards = (t: TestContext | undefined, undo: Undo): void => {
  exitOnSignals()
  const scope = t ?? wholeFile
  const stack = stacks.get(scope)
  if (stack) return void stack.push(undo)
  const undos = [undo]
  stacks.set(scope, undos)
  const run = async () => {
    for (const undo of undos.toReversed()) await undo()
  }
  if (t) t.after(run)
  else after(run)
}
