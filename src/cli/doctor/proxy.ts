import { systemClock } from '../../lib/time.ts'
import { checkArrival, checkCaching, checkPath, checkSentCookies, checkSetCookies, newPath } from './checks.ts'
import { checkClock, clockDiffers, type Finding, finding } from './findings.ts'
import { arrivesInTime, exchange, MAX_AHEAD_MS, type Probed, sendProbe, type Target, type WireAnswer } from './probe.ts'

/** A session and the application's own cookies come to less than this. */
const LARGE_COOKIE = 'a'.repeat(6000)

/** Looks at svc through its public address. Findings from before a connection failed count. */
export const inspectProxy = async (target: Target): Promise<Finding[]> => {
  const findings: Finding[] = []
  try {
    for await (const found of lookCloser(target)) findings.push(...found)
  } catch (error) {
    findings.push(explainFailure(target, error))
  }
  return findings
}

/** Yields the findings of the first probe, and sends more of them. */
async function* lookCloser(target: Target): AsyncGenerator<Finding[]> {
  const first = await reach(target)
  const { answer, seen, aheadMs = 0 } = first
  if (!seen) {
    yield [await explain(target, first)]
    return
  }
  const stream = checkStream(target, aheadMs)
  const path = checkPath(HEALTH_PATH, seen)
  yield path
  if (path.length === 0) yield await checkSpelling(target, aheadMs)
  yield checkArrival(target.origin, seen, answer)
  yield await checkCookies(target, seen.cookie_names, aheadMs)
  yield checkSetCookies(target.origin, seen, answer)
  yield await checkCaching(target, first)
  yield await stream
  yield checkClock('service', aheadMs)
}

/** Without an answer there is nothing to say: other probes say what is wrong. */
const checkStream = async (target: Target, aheadMs: number): Promise<Finding[]> => {
  const isInTime = await arrivesInTime(target, newPath(), aheadMs).catch(() => undefined)
  if (isInTime !== false) return []
  return [finding('streams_buffered', 'The first event of a stream arrives only when the stream has ended.')]
}

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

/** Without a probe svc answers this path too, so that both answers can be compared. */
const HEALTH_PATH = '/auth/health'

/** A probe is signed again for the clock at the other end if that differs by more than this. */
const TOLERATED_MS = 20_000

/** Sends the first probe, and another one where svc may not have answered it because its clock differs. */
const reach = async (target: Target): Promise<Probed> => {
  const sent = { path: HEALTH_PATH, kind: 'cookies' } as const
  const first = await sendProbe(target, sent)
  const aheadMs = clockAheadOf(first.answer)
  const mayBeLate = !first.seen && Math.abs(aheadMs) >= TOLERATED_MS && Math.abs(aheadMs) <= MAX_AHEAD_MS
  return mayBeLate ? sendProbe(target, { ...sent, aheadMs }) : first
}

const clockAheadOf = ({ headers: { date } }: WireAnswer): number => {
  const theirsMs = Date.parse(date ?? '')
  return Number.isNaN(theirsMs) ? 0 : theirsMs - systemClock.now()
}

/** Explains why svc has not answered a probe, by the answer and by one without a probe. */
const explain = async (target: Target, { baseUrl, answer }: Probed): Promise<Finding> => {
  const { origin } = target
  if (baseUrl !== undefined) {
    return finding('base_url_differs', `The service has SVC_BASE_URL ${baseUrl.slice(0, 300)}, and not ${origin}.`)
  }
  const { status, headers } = answer
  const at = `${origin}${HEALTH_PATH}`
  if (status >= 300 && status < 400) return finding('redirected', `${at} redirects to ${headers.location}.`)
  const plain = await exchange(target, HEALTH_PATH)
  if (isHealth(plain)) {
    if (status >= 500) {
      return finding(
        'response_headers_too_large',
        `The proxy answers ${status} where the answer of svc has long headers.`,
      )
    }
    const aheadMs = clockAheadOf(answer)
    if (Math.abs(aheadMs) > MAX_AHEAD_MS) return clockDiffers('service', aheadMs)
    return finding('probe_unanswered', `svc is at ${at}, and does not take the probe for one of its own.`)
  }
  if ([502, 503, 504].includes(plain.status)) return finding('no_backend', `${at} answers ${plain.status}.`)
  return finding('not_svc', `${at} answers ${plain.status}, and that is not svc.`)
}

const isHealth = ({ status, body }: WireAnswer): boolean => status === 200 && /^\s*\{\s*"status"\s*:\s*"ok"/.test(body)

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/

const explainFailure = ({ origin }: Target, error: unknown): Finding => {
  const { code = '', name, message } = error as NodeJS.ErrnoException
  const problem = name === 'AbortError' || name === 'TimeoutError' ? 'no answer in time' : code || message
  if (CERTIFICATE.test(code)) return finding('certificate_refused', `The certificate of ${origin}: ${message}.`)
  return finding('unreachable', `${origin}: ${problem}.`)
}
