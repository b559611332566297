import { fileURLToPath } from 'node:url'
import type { Awaited } from '../programs/sdk-verifier.ts'
import type { Run } from '../support/bench.ts'
import { type Child, startTool } from '../support/child.ts'
import { RESOURCE, type Place } from './place.ts'

const PROGRAM = fileURLToPath(new URL('../programs/sdk-verifier.ts', import.meta.url))

/** Programs that verify tokens, each a process of its own. */
export interface Verifiers {
  /** Resolves to the milliseconds from the end of `act` until the last of them has seen what it awaits. */
  timeUntilAllKnow(awaited: Awaited, act: () => Promise<void>): Promise<number>
  stop(): Promise<void>
}

/** Starts so many, in turn at each replica. */
export const startVerifiers = (run: Run, { replicas, key }: Place, count: number): Verifiers => {
  // Each of them writes its errors there.
  process.stderr.setMaxListeners(0)
  const children = Array.from({ length: count }, (_, at): Child => {
    const url = `http://127.0.0.1:${replicas[at % replicas.length]?.port}`
    const command = [PROGRAM, url, 'http://localhost', RESOURCE]
    return run.use(startTool({ command, cores: 'both', env: { SVC_API_KEY: key } }))
  })
  const ask = <T>(order: 'verify' | 'wait', awaited: Awaited): Promise<T[]> =>
    Promise.all(children.map((child) => child.request<T>({ order, awaited })))
  return {
    async stop() {
      await Promise.all(children.map((child) => child.stop()))
    },
    async timeUntilAllKnow({ token, isOfClient = false, roles }, act) {
      const awaited = { token, isOfClient, ...(roles && { roles }) }
      const accepted = await ask<boolean>('verify', awaited)
      if (accepted.includes(false)) throw new Error('a good token was refused')
      const waiting = ask<number>('wait', awaited)
      await act()
      const answeredMs = performance.timeOrigin + performance.now()
      return Math.max(...(await waiting)) - answeredMs
    },
  }
}
