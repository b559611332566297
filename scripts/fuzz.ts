// `npm run fuzz -- --hours 8 [--database postgres] [--seed N]`: the properties of test/hostile/, which `npm test` tries
// with the same few inputs in every run, with others for as long as it is told. It ends at the first problem, with the
// smallest input that shows it. `--seed` repeats a round. The service is a process with its defaults, on Linux.
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { percentile } from '../bench/support/statistics.ts'

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '1' },
    database: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
})
// It is read when the support of the tests is loaded.
process.env.SVC_TEST_DATABASE = values.database
const { connectionsAreAnswered } = await import('../test/support/fuzz/connections-property.ts')
const { newSeen, requestsAreAnswered } = await import('../test/support/fuzz/requests-property.ts')
const { assertOneLineEach, startFuzzWorld } = await import('../test/support/fuzz/world.ts')
const { startMeteredProcess } = await import('../test/support/service/metrics.ts')
const { turnedClock } = await import('../test/support/clock/turned-clock.ts')
const { interleavingsHold } = await import('../test/support/fuzz/interleavings-property.ts')
const { openOperator, startReplicas } = await import('../test/support/service/replicas.ts')
const { createScope } = await import('../test/support/scope.ts')
const { eventually } = await import('../test/support/wait.ts')

const HOUR_MS = 3_600_000
const MIB = 2 ** 20
/** The first part of a run fills caches; growth is what comes after it. */
const SETTLED = 0.5
const MOST_GROWTH = 1.15
const FEWEST_SAMPLES = 40

interface Sample {
  residentMib: number
  descriptors: number
}

const scope = createScope()
const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** How much greater a figure is at the end than in the middle of the run. */
const growthOf = (figures: readonly number[]): number => {
  const settled = figures.slice(Math.floor(figures.length * SETTLED))
  const third = Math.ceil(settled.length / 3)
  return percentile(settled.slice(-third), 0.5) / percentile(settled.slice(0, third), 0.5)
}

const judgeSamples = (samples: readonly Sample[]): void => {
  const growth = growthOf(samples.map(({ residentMib }) => residentMib))
  const open = growthOf(samples.map(({ descriptors }) => descriptors))
  say(`memory at the end against the middle: ${growth.toFixed(2)}; descriptors: ${open.toFixed(2)}`)
  if (samples.length < FEWEST_SAMPLES) return say('too short to judge whether they are flat')
  if (growth > MOST_GROWTH || open > MOST_GROWTH) throw new Error('memory or descriptors are not flat')
}

const startWorld = async () => {
  let metered: Awaited<ReturnType<typeof startMeteredProcess>> | undefined
  const world = await startFuzzWorld(async (options) => (metered = await startMeteredProcess(options)), { t: scope.t })
  if (!metered) throw new Error('no service')
  return { world, service: metered }
}

const { world, service } = await startWorld()

/** In this process: their clock is turned. */
const startInterleavings = async () => {
  const clock = turnedClock()
  const replicas = await startReplicas({ clock, env: { SVC_RATE_LIMIT: 'on', SVC_LOG_LEVEL: 'error' }, t: scope.t })
  return interleavingsHold({ replicas, operator: await openOperator(replicas[0], scope.t), clock })
}

const interleavings = await startInterleavings()

const takeSample = async (): Promise<Sample> => {
  const metrics = await service.scrape()
  return {
    residentMib: (metrics.value('process_resident_memory_bytes') ?? Number.NaN) / MIB,
    descriptors: metrics.value('process_open_fds') ?? Number.NaN,
  }
}

/** The log comes through a pipe, a little later than the responses. */
const hasLines = (ids: ReadonlySet<string>): boolean => {
  const logged = new Set(service.logLines().map(({ message, request_id: id }) => (message === 'request' ? id : '')))
  return ids.values().every((id) => logged.has(id))
}

const runRound = async (seed: number): Promise<number> => {
  const seen = newSeen()
  await fc.assert(requestsAreAnswered(world, seen), { seed, numRuns: 300 })
  await fc.assert(connectionsAreAnswered(world, seen.ids), { seed, numRuns: 100 })
  await world.assertBystanderUnharmed()
  await fc.assert(interleavings, { seed, numRuns: 5 })
  await eventually('the log is written', () => hasLines(seen.ids))
  assertOneLineEach(world, seen.ids)
  service.forgetLogs()
  return seen.ids.size
}

const endsAtMs = Date.now() + Number(values.hours) * HOUR_MS
let seed = Number(values.seed)
let requests = 0
const samples: Sample[] = []
try {
  for (; Date.now() < endsAtMs; seed = (seed + 1) % 2 ** 31) {
    requests += await runRound(seed)
    const sample = await takeSample()
    samples.push(sample)
    say(`seed ${seed}: ${requests} requests; ${sample.residentMib.toFixed(0)} MiB, ${sample.descriptors} descriptors`)
  }
  judgeSamples(samples)
} catch (error) {
  say(`with --database ${values.database} --seed ${seed}:`)
  console.error(error)
  process.exitCode = 1
} finally {
  await scope.end()
}
