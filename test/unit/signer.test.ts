// Runs once.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createSideThread, type SideThread } from '../../src/lib/side-thread.ts'
import { verifyEs256 } from '../../src/sessions/tokens/es256.ts'
import { createSigner } from '../../src/sessions/tokens/signer.ts'
import { eventually } from '../support/wait.ts'

const [first, second] = [
  generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  generateKeyPairSync('ec', { namedCurve: 'P-256' }),
]

/** The real side thread, and how many batches it took. */
const watchedThread = (): SideThread & { taken: number } => {
  const thread = createSideThread()
  const watched = {
    ...thread,
    taken: 0,
    runIfFree<Output>(task: URL, input: unknown) {
      const running = thread.runIfFree<Output>(task, input)
      if (running) watched.taken += 1
      return running
    },
  }
  return watched
}

const cannotStart = () => {
  throw new Error('too many threads')
}

const signMany = async (thread: SideThread, pairs = [first]): Promise<void> => {
  const sign = createSigner(thread)
  for (const count of [1, 3, 4, 16, 17, 70]) {
    await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const pair = pairs[index % pairs.length] ?? first
        const signature = await sign(pair.privateKey, `message ${index} of ${count}`)
        assert.ok(verifyEs256(pair.publicKey, `message ${index} of ${count}`, signature), `${index} of ${count}`)
      }),
    )
    await setImmediate()
  }
}

describe('signatures', () => {
  test('each is that of its message, however many are made at once', async () => {
    const thread = watchedThread()
    await eventually('the thread signs', async () => {
      await signMany(thread)
      return thread.taken > 0
    })
    await signMany(thread)
  })

  test('are made with the right key while keys change', () => signMany(createSideThread(), [first, second]))

  test('are made without the thread when it fails', () =>
    signMany({ run: () => Promise.reject(new Error('broken')), runIfFree: () => Promise.reject(new Error('broken')) }))

  test('are made without the thread when it cannot start', () => signMany({ run: cannotStart, runIfFree: cannotStart }))

  test('with a key that cannot sign are refused, all of them', async () => {
    const sign = createSigner(createSideThread())
    const signing = Array.from({ length: 8 }, () => sign(first.publicKey, 'message'))
    for (const { status } of await Promise.allSettled(signing)) assert.equal(status, 'rejected')
  })
})
