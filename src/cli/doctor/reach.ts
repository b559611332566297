import { systemClock } from '../../lib/time.ts'
import { clockDiffers } from './clock.ts'
import { exchange, type WireAnswer } from './exchange.ts'
import { type Finding, finding } from './findings.ts'
import { MAX_AHEAD_MS, type Probed, sendProbe, type Target } from './probe.ts'

/** A path that svc answers anyway, so that a request without a probe can be compared. */
export const HEALTH_PATH = '/auth/health'

/** A probe is signed again for the clock at the other end if that differs by more than this. */
const TOLERATED_MS = 20_000

/** Sends the first probe. Either svc has answered it, or the finding says what is in the way. */
export const reach = async (target: Target): Promise<{ probed: Probed } | { problem: Finding }> => {
  const sent = { path: HEALTH_PATH, kind: 'cookies' } as const
  try {
    const first = await sendProbe(target, sent)
    if (first.seen) return { probed: first }
    const aheadMs = clockAheadOf(first.answer)
    const mayBeLate = Math.abs(aheadMs) >= TOLERATED_MS && Math.abs(aheadMs) <= MAX_AHEAD_MS
    const last = mayBeLate ? await sendProbe(target, { ...sent, aheadMs }) : first
    return last.seen ? { probed: last } : { problem: await explain(target, last) }
  } catch (error) {
    return { problem: explainFailure(target, error) }
  }
}

const clockAheadOf = ({ headers: { date } }: WireAnswer): number => {
  const theirsMs = Date.parse(date ?? '')
  return Number.isNaN(theirsMs) ? 0 : theirsMs - systemClock.now()
}

/** Why svc has not answered a probe, as far as the answer and one without a probe show. */
const explain = async ({ origin, ca }: Target, { baseUrl, answer }: Probed): Promise<Finding> => {
  if (baseUrl !== undefined) {
    return finding('base_url_differs', `The service has SVC_BASE_URL ${baseUrl.slice(0, 300)}, and not ${origin}.`)
  }
  const { status, headers } = answer
  const at = `${origin}${HEALTH_PATH}`
  if (status >= 300 && status < 400) return finding('redirected', `${at} redirects to ${headers.location}.`)
  const plain = await exchange({ origin, path: HEALTH_PATH, ca })
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

/** Why there was no answer at all. */
export const explainFailure = ({ origin }: Target, error: unknown): Finding => {
  const { code = '', name, message } = error as NodeJS.ErrnoException
  const problem = name === 'AbortError' || name === 'TimeoutError' ? 'no answer in time' : code || message
  if (CERTIFICATE.test(code)) return finding('certificate_refused', `The certificate of ${origin}: ${message}.`)
  return finding('unreachable', `${origin}: ${problem}.`)
}
