// Preloaded into a server: `start` starts a profile of its main thread's time, and `stop` answers with the time that
// each function took for itself.
import { Session } from 'node:inspector/promises'
import type { ProfiledFunction } from '../budget/categories.ts'

const SAMPLE_EVERY_US = 200

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US })

const stop = async (): Promise<ProfiledFunction[]> => {
  const { profile } = await session.post('Profiler.stop')
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  )
  const selfUs = new Map<number, number>()
  for (const [at, id] of (profile.samples ?? []).entries()) {
    selfUs.set(id, (selfUs.get(id) ?? 0) + (profile.timeDeltas?.[at] ?? 0))
  }
  return profile.nodes.map(({ id, callFrame }) => ({
    id,
    parent: parents.get(id),
    name: callFrame.functionName,
    url: callFrame.url,
    selfUs: selfUs.get(id) ?? 0,
  }))
}

process.on('message', (message: 'start' | 'stop') => {
  if (message === 'stop') void stop().then((functions) => process.send?.(functions))
  else void session.post('Profiler.start').then(() => process.send?.('started'))
})
// The message listener must not keep the server alive.
process.channel?.unref()
