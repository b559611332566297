// verifyAccessToken of the SDK with the revocation feed of a service against one without; what a million ended sessions
// take in memory.
import { randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readEntry } from '../sdk/src/revocations/entry.ts'
import { createMemory } from '../sdk/src/revocations/memory.ts'
import { type Auth, createAuth } from '../sdk/src/server.ts'
import { bench, type Run } from './support/bench.ts'
import { pinTo } from './support/cores.ts'
import { limitRow, ratioRow } from './support/report.ts'
import { runCommand, startService } from './support/servers.ts'
import { percentile } from './support/statistics.ts'
import { signUpUsers } from './support/users.ts'

const USERS = 16
const SLICES = 8
const ENDED = 1_000_000
const QUICK_ENDED = 10_000
const SWEEPS = 200
const MB = 1_000_000
const LIFETIME_MS = 86_400_000

await bench('Access tokens with the revocation feed', async (run) => {
  pinTo('second')
  const folder = await run.newFolder()
  const service = run.use(await startService({ folder, cores: 'first' }))
  const { key } = runCommand<{ key: string }>(folder, ['api-keys', 'create', 'bench', '--scope', 'revocations:read'])
  const tokens = (await signUpUsers(service.port, USERS)).map(({ cookies }) => cookies.get('svc_access') ?? '')
  const where = { url: `http://127.0.0.1:${service.port}`, issuer: 'http://localhost' }
  // It never asks svc about a token.
  const withFeed = createAuth({ ...where, revocations: { apiKey: key, stale: 'refuse' } })
  const { timesUs, baselineUs } = await measure(run, tokens, [withFeed, createAuth(where)])
  const { heapMb, sweepMs } = measureMemory(run.quick ? QUICK_ENDED : ENDED)
  run.note('User and system time of all threads of the process that verifies.')
  run.note(`Memory: the heap, with ${ENDED.toLocaleString('en')} ended sessions, each with an entry of its own.`)
  return [
    ratioRow('verifyAccessToken, against one without the feed', {
      unit: 'µs',
      svc: timesUs,
      baseline: baselineUs,
      goal: { atMost: 1.1 },
    }),
    limitRow('a million ended sessions', { unit: 'MB', svc: heapMb, goal: { atMost: 150 } }),
    limitRow('a look for those that can be dropped', { unit: 'ms', svc: sweepMs, goal: { atMost: 5 } }),
  ]
})

/** Verifies each token again and again for a time; microseconds of processor time for one. */
async function verify({ verifyAccessToken }: Auth, tokens: readonly string[], durationMs: number): Promise<number> {
  const before = process.cpuUsage()
  const endMs = performance.now() + durationMs
  let verified = 0
  for (; performance.now() < endMs; verified += tokens.length)
    for (const token of tokens) await verifyAccessToken(token)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / verified
}

async function measure(run: Run, tokens: readonly string[], [svc, baseline]: readonly [Auth, Auth]) {
  const durationMs = run.duration(2000)
  for (const auth of [svc, baseline]) await verify(auth, tokens, durationMs)
  const [timesUs, baselineUs]: [number[], number[]] = [[], []]
  for (let round = 0; round < run.rounds; round++) {
    const sums = await run.round(async () => {
      const all = { svc: 0, baseline: 0 }
      // Each is the first as often as the other.
      for (let slice = 0; slice < SLICES; slice += 2) {
        all.svc += await verify(svc, tokens, durationMs / SLICES)
        all.baseline += await verify(baseline, tokens, (2 * durationMs) / SLICES)
        all.svc += await verify(svc, tokens, durationMs / SLICES)
      }
      return all
    })
    timesUs.push(sums.svc / SLICES)
    baselineUs.push(sums.baseline / (SLICES / 2))
  }
  return { timesUs, baselineUs }
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

function measureMemory(count: number): { heapMb: number; sweepMs: number } {
  const before = heapUsed()
  const memory = createMemory()
  const times = { at: new Date().toISOString(), expires_at: new Date(Date.now() + LIFETIME_MS).toISOString() }
  for (let number = 0; number < count; number++) {
    const ended = { type: 'session-revoked', user_id: randomUUID(), session_ids: [randomUUID()], reason: 'logout' }
    // As it comes: in a text of its own.
    const entry = readEntry(JSON.parse(JSON.stringify({ ...ended, ...times })))
    if (entry) memory.add(entry)
  }
  const heapMb = (heapUsed() - before) / MB
  const sweepsMs = Array.from({ length: SWEEPS }, () => {
    const startedMs = performance.now()
    memory.sweep()
    return performance.now() - startedMs
  })
  return { heapMb, sweepMs: percentile(sweepsMs, 0.95) }
}
