import { setTimeout as wait } from 'node:timers/promises'
import type { Run } from '../support/bench.ts'
import type { Child } from '../support/child.ts'
import { pace } from '../support/pace.ts'
import { limitRow, type Row, ratioRow } from '../support/report.ts'
import { percentile, spread } from '../support/statistics.ts'
import { getUser, userClient } from '../support/users.ts'
import { CLIENTS, type Place, READS_PER_S, timeOf } from './place.ts'
import { type Storm, storm } from './storm.ts'

/** Long enough that its beginning, when all clients connect, is a small part of it. */
const STORM_MS = 5000
const CALM_MS = 1000
const LOOKS = 10
const SERVED = 0.8
const P99_MS = 50
const REFUSED_MS = 100
/** The medians of a few requests vary as much. */
const AS_BEFORE = 1.2

/** What a storm did, and what others noticed of it. */
interface Round extends Storm {
  barePerS: number
  readMs: number
  before: Calm
  after: Calm
}

/** How the service answers a few clients: medians. */
interface Calm {
  readMs: number
  loginMs: number
}

/** Storms of logins, each beside reads and after a measurement of bare hashes. */
export async function measureStorms(run: Run, hasher: Child, place: Place): Promise<Row[]> {
  const rounds: Round[] = []
  while (rounds.length < run.rounds) rounds.push(await run.round(() => measureStorm(run, hasher, place)))
  const refusedMs = rounds.flatMap((round) => round.refusedMs)
  const median = (figure: (round: Round) => number): number => spread(rounds.map(figure)).median
  const { name } = place
  return [
    ratioRow(`logins served against bare Argon2id, ${name}`, {
      unit: '/s',
      svc: rounds.map(({ servedPerS }) => servedPerS),
      baseline: rounds.map(({ barePerS }) => barePerS),
      goal: { atLeast: SERVED },
    }),
    limitRow(`p99 of GET /user in the storm, ${name}`, {
      unit: 'ms',
      svc: median(({ readMs }) => readMs),
      goal: { atMost: P99_MS },
    }),
    ...(refusedMs.length === 0 ? [] : [toRefusalRow(name, refusedMs)]),
    ratioRow(`a login a second later against one before, ${name}`, {
      unit: 'ms',
      svc: rounds.map(({ after }) => after.loginMs),
      baseline: rounds.map(({ before }) => before.loginMs),
      goal: { atMost: AS_BEFORE },
    }),
    ratioRow(`GET /user a second later against one before, ${name}`, {
      unit: 'ms',
      svc: rounds.map(({ after }) => after.readMs),
      baseline: rounds.map(({ before }) => before.readMs),
      goal: { atMost: AS_BEFORE },
    }),
  ]
}

const toRefusalRow = (name: string, refusedMs: number[]): Row =>
  limitRow(`p99 of ${refusedMs.length.toLocaleString('en')} refusals, ${name}`, {
    unit: 'ms',
    svc: percentile(refusedMs, 0.99),
    goal: { atMost: REFUSED_MS },
  })

async function measureStorm(run: Run, hasher: Child, place: Place): Promise<Round> {
  const durationMs = run.duration(STORM_MS)
  const { port } = place.service
  const barePerS = await hasher.request<number>(durationMs)
  const before = await lookAt(place)
  const [result, latenciesMs] = await Promise.all([
    storm({ port, clients: CLIENTS, durationMs, login: place.login }),
    pace({ port, clients: place.readers.map(userClient), ratePerS: READS_PER_S, durationMs }),
  ])
  await wait(CALM_MS)
  return { ...result, barePerS, readMs: percentile(latenciesMs, 0.99), before, after: await lookAt(place) }
}

async function lookAt({ service, readers, login }: Place): Promise<Calm> {
  const request = getUser(readers[0].cookies)
  const [readsMs, loginsMs]: [number[], number[]] = [[], []]
  for (let look = 0; look < LOOKS; look++) {
    readsMs.push(await timeOf(service.port, request, 200))
    loginsMs.push(await timeOf(service.port, login(look), 303))
  }
  return { readMs: spread(readsMs).median, loginMs: spread(loginsMs).median }
}
