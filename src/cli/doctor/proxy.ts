import { checkArrival, checkPath } from './arrival.ts'
import { checkCaching, newPath } from './caching.ts'
import { checkSentCookies, checkSetCookies } from './cookies.ts'
import { type Finding, finding } from './findings.ts'
import { type Probed, sendProbe, type Target } from './probe.ts'
import { clockDiffers, explainFailure, HEALTH_PATH, reach } from './reach.ts'

/** Clocks that differ by more than this make tokens and codes fail. */
const MAX_CLOCK_DIFFERENCE_MS = 10_000

/** A session and the application's own cookies come to less than this. */
const LARGE_COOKIE = 'a'.repeat(6000)

/** Looks at svc through its public address. What was found before a connection failed counts. */
export const inspectProxy = async (target: Target): Promise<Finding[]> => {
  const reached = await reach(target)
  if ('problem' in reached) return [reached.problem]
  const findings: Finding[] = []
  try {
    for await (const found of lookCloser(target, reached.probed)) findings.push(...found)
  } catch (error) {
    findings.push(explainFailure(target, error))
  }
  return findings
}

/** What follows from the first probe, and from more of them. */
async function* lookCloser(target: Target, first: Probed): AsyncGenerator<Finding[]> {
  const { answer, seen, aheadMs = 0 } = first
  if (!seen) return
  const path = checkPath(HEALTH_PATH, seen)
  yield path
  if (path.length === 0) yield await checkSpelling(target, aheadMs)
  yield checkArrival(target.origin, seen, answer)
  yield await checkCookies(target, seen.cookie_names, aheadMs)
  yield checkSetCookies(target.origin, seen, answer)
  yield await checkCaching(target, first)
  yield checkClock(aheadMs)
}

/** A path and a query that a proxy might decode or clean. */
const checkSpelling = async (target: Target, aheadMs: number): Promise<Finding[]> => {
  const path = '/auth/probe/a%2Fb%20c;d?e=%2F%20&f=g+h'
  const { seen, answer } = await sendProbe(target, { path, aheadMs })
  if (seen) return checkPath(path, seen)
  return [finding('path_changed', `The proxy answers ${answer.status} in place of svc at ${path}.`)]
}

const checkCookies = async (target: Target, names: string[], aheadMs: number): Promise<Finding[]> => {
  const pairs = names.map((name) => `${name}=probe`)
  const small = await sendProbe(target, { path: newPath(), cookie: pairs.join('; '), aheadMs })
  const findings = small.seen ? checkSentCookies(names, small.seen) : []
  if (findings.length > 0) return findings
  const large = await trySend(target, [...pairs, `probe=${LARGE_COOKIE}`].join('; '), aheadMs)
  if (large?.seen) return []
  const problem = large === undefined ? 'ends the connection' : `answers ${large.answer.status}`
  return [finding('request_headers_too_large', `The proxy ${problem} where a request has 6 KB of cookies.`)]
}

const trySend = (target: Target, cookie: string, aheadMs: number): Promise<Probed | undefined> =>
  sendProbe(target, { path: newPath(), cookie, aheadMs }).catch(() => undefined)

const checkClock = (aheadMs: number): Finding[] =>
  Math.abs(aheadMs) > MAX_CLOCK_DIFFERENCE_MS ? [clockDiffers(aheadMs)] : []
