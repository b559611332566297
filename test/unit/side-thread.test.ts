// Runs once.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { createSideThread, type SideThread } from '../../src/lib/side-thread.ts'
import { eventually } from '../support/wait.ts'

const task = (source: string): URL => new URL(`data:text/javascript,${encodeURIComponent(source)}`)

const DOUBLE = task('export default (number) => number * 2')
const REFUSE = task(`export default (what) => { throw new TypeError('refused ' + what) }`)
const DIE = task('export default () => process.exit(1)')
const WAIT = task('export default (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)')

const started = async (): Promise<SideThread> => {
  const thread = createSideThread()
  await eventually('it is free', async () => (await thread.runIfFree(DOUBLE, 1)) === 2)
  return thread
}

describe('the side thread', () => {
  test('runs tasks: each caller gets the result of its own input', async () => {
    const thread = createSideThread()
    const inputs = Array.from({ length: 50 }, (_, index) => index)
    const outputs = await Promise.all(inputs.map((input) => thread.run<number>(DOUBLE, input)))
    assert.deepEqual(
      outputs,
      inputs.map((input) => input * 2),
    )
  })

  test('an error of a task rejects that call only', async () => {
    const thread = createSideThread()
    const calls = [thread.run(DOUBLE, 1), thread.run(REFUSE, 'it'), thread.run(DOUBLE, 3)]
    const [first, second, third] = await Promise.allSettled(calls)
    assert.deepEqual(
      [first, third],
      [
        { status: 'fulfilled', value: 2 },
        { status: 'fulfilled', value: 6 },
      ],
    )
    assert.ok(second?.status === 'rejected')
    assert.match(String(second.reason), /refused it/)
  })

  test('a thread that ends rejects what it was given, and another one starts', async () => {
    const thread = await started()
    const lost = await Promise.allSettled([thread.run(DIE, 0), thread.run(DOUBLE, 1)])
    assert.deepEqual(
      lost.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.equal(await thread.run(DOUBLE, 4), 8)
    assert.equal(thread.runIfFree(DOUBLE, 4), undefined, 'what need not run there is left alone')
  })

  test('takes nothing but the same task while it is busy, if it must be free', async () => {
    const thread = createSideThread()
    assert.equal(thread.runIfFree(DOUBLE, 1), undefined, 'it has not started')
    const free = await started()
    const waiting = free.run(WAIT, 200)
    assert.equal(free.runIfFree(DOUBLE, 1), undefined)
    assert.ok(free.runIfFree(WAIT, 1))
    await waiting
    await eventually('it is free again', async () => (await free.runIfFree(DOUBLE, 1)) === 2)
  })

  for (const [what, use, written] of [
    ['finishes its work before the process ends', 'thread.run(task, 21).then(console.log)', '42\n'],
    ['does not keep a process alive that has offered work', 'thread.runIfFree(task, 21)', ''],
  ] as const) {
    test(what, () => {
      const source = `
        import { createSideThread } from ${JSON.stringify(new URL('../../src/lib/side-thread.ts', import.meta.url).href)}
        const thread = createSideThread()
        const task = new URL(${JSON.stringify(DOUBLE.href)})
        ${use}`
      const options = ['--input-type=module', '--eval', source]
      const { stdout, status } = spawnSync(process.execPath, options, { encoding: 'utf8', env: {}, timeout: 60_000 })
      assert.deepEqual([stdout, status], [written, 0])
    })
  }
})
