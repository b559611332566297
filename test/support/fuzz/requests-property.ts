import fc from 'fast-check'
import type { Answer, Request } from '../client/user-agent.ts'
import { describeExchange, judge } from './judgement.ts'
import { toRequest } from './filled-in.ts'
import { type FuzzRequest, fuzzRequest } from './request.ts'
import type { FuzzWorld } from './world.ts'

const AT_ONCE = 10
/** Until the browser is signed in again, and there are new links. */
const RUNS_A_STOCK = 10

interface Seen {
  /** How many responses had each status. */
  statuses: Map<number, number>
  /** By request, how many were answered with less than 400: it got through all checks. */
  accepted: Map<string, number>
  ids: Set<string>
}

export const newSeen = (): Seen => ({ statuses: new Map(), accepted: new Map(), ids: new Set() })

const increase = <Key>(counts: Map<Key, number>, key: Key): void => void counts.set(key, (counts.get(key) ?? 0) + 1)

const note = (seen: Seen, fuzzed: FuzzRequest, { status, headers }: Answer): void => {
  increase(seen.statuses, status)
  if (status < 400) increase(seen.accepted, `${fuzzed.method} ${fuzzed.path}`)
  seen.ids.add(String(headers['x-request-id']))
}

const exchange = async (world: FuzzWorld, fuzzed: FuzzRequest, seen: Seen): Promise<void> => {
  const { browser, pantry, service, providerOrigin } = world
  const request: Request = toRequest(fuzzed, browser, pantry)
  const answer = await browser.send(request)
  note(seen, fuzzed, answer)
  pantry.harvest(answer)
  try {
    judge(request, answer, { url: service.env.SVC_BASE_URL ?? service.url, providerOrigin })
  } catch (error) {
    throw new Error(describeExchange(request, answer, service.logLines()), { cause: error })
  }
}

/** Ten requests at once, again and again: each is answered once, as the contract says. */
export const requestsAreAnswered = (world: FuzzWorld, seen: Seen) => {
  let runs = 0
  const batch = fc.array(fuzzRequest(world.routes, world.fields), { minLength: 1, maxLength: AT_ONCE, size: 'max' })
  return fc.asyncProperty(batch, async (requests) => {
    if ((runs += 1) % RUNS_A_STOCK === 1) await world.stockUp()
    await Promise.all(requests.map((each) => exchange(world, each, seen)))
  })
}
