import type { ProbeAnswer } from '../../lib/probe.ts'
import type { WireAnswer } from './exchange.ts'
import { type Finding, finding } from './findings.ts'

/** What has become of the cookies with these names that a probe sent. */
export const checkSentCookies = (sent: string[], { cookies: received }: ProbeAnswer): Finding[] => {
  const missing = sent.filter((name) => !received.includes(name))
  if (missing.length === 0) return []
  const message = `Of the cookies ${sent.join(', ')} svc received ${received.join(', ') || 'none'}.`
  const known = new Set(sent.map((name) => name.toLowerCase()))
  if (missing.every((name) => received.some((other) => other.toLowerCase() === name.toLowerCase()))) {
    return [finding('cookies_folded', message)]
  }
  const isRenamed = received.filter((name) => !known.has(name.toLowerCase())).length >= missing.length
  return [finding(isRenamed ? 'cookies_renamed' : 'cookies_lost', message)]
}

const nameOf = (cookie: string): string => cookie.slice(0, cookie.indexOf('='))

/** Order and case of attributes do not matter, and nor does the value. */
const attributesOf = (cookie: string): string[] =>
  cookie
    .split(';')
    .slice(1)
    .map((attribute) => attribute.trim().toLowerCase())
    .toSorted()

/** What has become of the cookies that svc has set in its answer to a probe. */
export const checkSetCookies = (
  origin: string,
  { set_cookies: written }: ProbeAnswer,
  answer: WireAnswer,
): Finding[] => {
  const received = answer.headers['set-cookie'] ?? []
  const isMerged = received.some((line) => written.filter((cookie) => line.includes(`${nameOf(cookie)}=`)).length > 1)
  if (isMerged) return [finding('set_cookie_merged', 'Several headers Set-Cookie of svc arrive as one.')]
  const pairs = written.map((cookie) => ({
    cookie,
    arrived: received.find((line) => nameOf(line) === nameOf(cookie)),
  }))
  const lost = pairs.filter(({ arrived }) => arrived === undefined)
  if (lost.length > 0) {
    const message = `Of ${written.length} headers Set-Cookie of svc, ${written.length - lost.length} arrive.`
    return [finding('set_cookie_lost', message)]
  }
  return pairs.flatMap(({ cookie, arrived = '' }) => checkAttributes(origin, cookie, arrived)).slice(0, 1)
}

const checkAttributes = (origin: string, written: string, arrived: string): Finding[] => {
  const [expected, actual] = [attributesOf(written), attributesOf(arrived)]
  if (expected.join(';') === actual.join(';')) return []
  const message = `A cookie of svc arrives with "${actual.join('; ')}" in place of "${expected.join('; ')}".`
  const onlySecureIsLost = expected.filter((attribute) => attribute !== 'secure').join(';') === actual.join(';')
  if (origin.startsWith('https:') && onlySecureIsLost) return [finding('cookies_not_secure', message)]
  return [finding('set_cookie_changed', message)]
}
