import assert from 'node:assert/strict'
import type { Answer, Request } from '../client/user-agent.ts'
import type { LogLine } from '../service/service-log.ts'
import { MARKUP } from './nasty.ts'

const KNOWN_COOKIE =
  /^(?:__Host-|__Secure-)?svc_(?:access|refresh|csrf|session|fresh|device|last_way|link|pending|codes|done|stay|oauth)$/
const READABLE_COOKIE = /^(?:__Host-)?svc_(?:csrf|session|fresh)$/
const SAME_SITE_PATH = /^\/(?![/\\])[\x21-\x7e]*$/
/** Clients that the world has made, and those that can register themselves. */
const OF_CLIENT =
  /^(?:https:\/\/app\.example\.net\/(?:callback|bye)(?:\?|$)|http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d+)?(?:[/?]|$)|cursor:)/
const OAUTH_PATH = /^\/auth\/oauth2\/(?:token|revoke|introspect|userinfo|register)(?:\?|$)/
const JSON_PATH =
  /^\/auth\/(?:api\/|(?:passkeys\/(?:login|register)(?:\/options)?|health|ready|\.well-known\/(?:jwks\.json|passkey-endpoints))(?:\?|$))/

/** Where a response may send a browser. */
export interface Places {
  /** The address of the service. */
  url: string
  providerOrigin: string
}

const judgeLocation = (path: string, location: string, { url, providerOrigin }: Places): void => {
  if (SAME_SITE_PATH.test(location)) return
  if (path.startsWith('/auth/oauth2/') && OF_CLIENT.test(location)) return
  const isLogin = location.startsWith(`${url}/auth/login?return_to=`)
  assert.ok(isLogin || location.startsWith(`${providerOrigin}/login/oauth/authorize?`), `off-site: ${location}`)
}

const judgeCookies = ({ setCookies, headers }: Answer): void => {
  for (const { name, value, attributes, line } of setCookies) {
    assert.match(name, KNOWN_COOKIE)
    assert.equal(attributes.samesite, 'Lax', line)
    assert.equal(attributes.domain, undefined, line)
    if (value !== '') assert.equal('httponly' in attributes, !READABLE_COOKIE.test(name), line)
    assert.equal(headers['cache-control'], 'no-store', line)
  }
}

const judgeBody = ({ method, path }: Request, { status, headers, text }: Answer): void => {
  const type = headers['content-type'] ?? ''
  assert.equal(headers['x-content-type-options'], 'nosniff')
  if (method === 'HEAD' || status === 304) return assert.equal(text, '')
  if (type.startsWith('text/html')) {
    assert.ok(headers['content-security-policy'], 'a page without a policy')
    assert.ok(!text.includes(MARKUP), 'a page repeats markup')
  }
  if (OAUTH_PATH.test(path) && status >= 400) {
    const { error, error_description: description } = JSON.parse(text) as Record<string, unknown>
    assert.deepEqual([typeof error, typeof description], ['string', 'string'], text)
    assert.equal(headers['access-control-allow-credentials'], undefined)
  }
  assert.doesNotMatch(text, /\$argon2id\$v=19\$m=\d|node:internal|\bat .+\.ts:\d+/)
  if (!JSON_PATH.test(path) || status < 400) return
  const { error } = JSON.parse(text) as { error: { code: unknown; message: unknown; request_id: unknown } }
  assert.equal(typeof error.code, 'string')
  assert.equal(typeof error.message, 'string')
  assert.equal(error.request_id, headers['x-request-id'])
}

/** Fails where a response breaks what holds for every response to every request. */
export const judge = (request: Request, answer: Answer, places: Places): void => {
  const { status, headers, location } = answer
  assert.ok(status >= 200 && status < 500, `${status} ${answer.text}`)
  assert.match(String(headers['x-request-id']), /^[0-9a-f]{20}$/)
  assert.equal(status === 303, location !== undefined && status < 400, `${status} to ${location}`)
  const goesOn =
    location ?? (headers.refresh === undefined ? undefined : String(headers.refresh).replace(/^0;url=/, ''))
  if (goesOn !== undefined) judgeLocation(request.path, goesOn, places)
  judgeCookies(answer)
  judgeBody(request, answer)
}

/** A request with the response to it and with its line of the log, for people. */
export const describeExchange = (request: Request, answer: Answer, log: readonly LogLine[]): string => {
  const id = answer.headers['x-request-id']
  const lines = log.filter(({ request_id }) => request_id === id).map((line) => JSON.stringify(line))
  return `${JSON.stringify(request, undefined, 1)}\n${answer.status} ${JSON.stringify(answer.headers)}\n${answer.text.slice(0, 300)}\n${lines.join('\n')}`
}
