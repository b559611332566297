import type { Run } from '../support/bench.ts'
import { connect } from '../support/connection.ts'
import type { Client } from '../support/load.ts'
import {
  fetchCsrfCookie,
  keepCookies,
  loginClient,
  postForm,
  signUpUsers,
  type SignedInUser,
} from '../support/users.ts'
import { type Place, usedMs } from './place.ts'

const LOGOUTS = 500
const CONNECTIONS = 16
const SLICES = 4

/** The processor time of a logout in microseconds, round by round, at each of the places in turn. */
export async function measureLogouts(run: Run, places: readonly Place[]): Promise<number[][]> {
  const users = await Promise.all(places.map(({ replicas: [{ port }] }) => signUpUsers(port, CONNECTIONS)))
  const slices = run.quick ? 1 : SLICES
  const timesUs: number[][] = places.map(() => [])
  for (let round = -1; round < run.rounds; round += 1) {
    const sums = await run.round(async () => {
      const all = places.map(() => 0)
      for (let slice = 0; slice < slices; slice += 1)
        for (const [at, place] of places.entries()) all[at] = (all[at] ?? 0) + (await logOutAll(place, users[at] ?? []))
      return all
    })
    // The first round warms up.
    if (round >= 0) for (const [at, sum] of sums.entries()) timesUs[at]?.push(sum / slices)
  }
  return timesUs
}

/** Starts sessions, ends them, and resolves to the processor time of an end in microseconds. */
async function logOutAll(place: Place, users: readonly SignedInUser[]): Promise<number> {
  const [{ port }] = place.replicas
  const csrf = await fetchCsrfCookie(port)
  const logouts: string[] = []
  const keep = ({ head }: { head: string }): void => {
    const cookies = new Map<string, string>()
    keepCookies(cookies, head)
    logouts.push(postForm('/auth/logout', cookies, {}))
  }
  const each = Math.ceil(LOGOUTS / users.length)
  const logins = users.map(({ email }) => Array.from({ length: each }, () => loginClient(email, csrf).request()))
  await Promise.all(logins.map((requests) => sendInTurn(port, requests, keep)))
  const shares = users.map((_, at) => logouts.filter((_logout, index) => index % users.length === at))
  const beforeMs = usedMs(place)
  await Promise.all(shares.map((share) => sendInTurn(port, share)))
  return ((usedMs(place) - beforeMs) * 1000) / logouts.length
}

/** Sends requests over one connection, each after the answer to the one before, which is a redirect. */
function sendInTurn(
  port: number,
  requests: readonly (string | Buffer)[],
  onResponse?: Client['onResponse'],
): Promise<void> {
  const left = [...requests]
  return new Promise((resolve, reject) => {
    const next = (): void => {
      const request = left.shift()
      if (request !== undefined) return connection.send(request)
      connection.close()
      resolve()
    }
    const connection = connect({
      port,
      onFailure: reject,
      onResponse(response) {
        if (response.status !== 303) reject(new Error(`an answer with status ${response.status}`))
        onResponse?.(response)
        next()
      },
    })
    next()
  })
}
