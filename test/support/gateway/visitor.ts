import assert from 'node:assert/strict'
import type { OutgoingHttpHeaders } from 'node:http'
import { type Answer, createUserAgent, type Form } from '../client/user-agent.ts'
import type { Echo } from './echo-application.ts'
import { PUBLIC_ORIGIN } from './gateway-configuration.ts'

const { host } = new URL(PUBLIC_ORIGIN)

/** What browsers send with a navigation, and with a request of a script. */
export const NAVIGATION = { 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*;q=0.8' }
export const SCRIPT = { 'sec-fetch-mode': 'cors', accept: '*/*' }

/** A browser that sees the gateway as the public origin. */
export const visitorOf = (port: number) => {
  const agent = createUserAgent({ url: `http://localhost:${port}` })

  /** Opens an address, as a link does. */
  const open = (target: string, headers: OutgoingHttpHeaders = {}) =>
    agent.get(target, { host, ...NAVIGATION, ...headers })

  /** Sends a form of the same origin. */
  const post = (path: string, form: Form, headers: OutgoingHttpHeaders = {}): Promise<Answer> =>
    agent.post(path, form, { host, ...NAVIGATION, origin: PUBLIC_ORIGIN, 'sec-fetch-site': 'same-origin', ...headers })

  return {
    open,
    post,
    cookies: agent.cookies,
    /** Requests an address, as a script does. */
    fetch: (target: string, headers: OutgoingHttpHeaders = {}) => agent.get(target, { host, ...SCRIPT, ...headers }),
    /** Renews the session, as a script does. */
    refresh: () => agent.refresh('audience=app', { host, ...SCRIPT, 'sec-fetch-site': 'same-origin' }),
    /** Opens a page of svc, and sends its form. */
    async submit(page: string, form: Form): Promise<Answer> {
      const { text } = await open(page)
      const hidden = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
      const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, unescaped(value)]))
      return post(page.replace(/\?.*/, ''), { ...fields, ...form })
    },
  }
}

export type Visitor = ReturnType<typeof visitorOf>

const unescaped = (value: string): string =>
  value.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

/** The request that the application received. */
export const echoOf = ({ status, text }: Answer): Echo => {
  assert.equal(status, 200, text)
  const echo: Echo = JSON.parse(text)
  assert.equal(echo.application, true)
  return echo
}

/** The headers of a request whose names match, by their names in small letters. */
export const headersOf = ({ headers }: Echo, pattern: RegExp): Record<string, string> => {
  const found: Record<string, string> = {}
  for (let index = 0; index < headers.length; index += 2) {
    const [name, value = ''] = [headers[index]?.toLowerCase() ?? '', headers[index + 1]]
    if (pattern.test(name)) found[name] = name in found ? `${found[name]}, ${value}` : value
  }
  return found
}

/** The headers of a request that name its user, whatever their spelling. */
export const identityOf = (echo: Echo): Record<string, string> => headersOf(echo, /^(?:x[^a-z0-9]svc|remote)[^a-z0-9]/)

/** Checks that a response sets no cookie but that of svc's pages, and has no header from a link. */
export const assertInjectsNothing = ({ setCookies, headers }: Answer): void => {
  assert.deepEqual(
    setCookies.filter(({ name, value }) => name !== 'svc_csrf' || !/^[\w-]{43,}$/.test(value)),
    [],
  )
  assert.equal(headers['x-injected'], undefined)
}

/** A redirect to the login page, whose only parameter leads back to `target`. */
export const assertLeadsBack = (answer: Answer, target: string): void => {
  assert.equal(answer.status, 303, answer.text)
  assertInjectsNothing(answer)
  const login = new URL(answer.location ?? '', PUBLIC_ORIGIN)
  assert.equal(login.origin + login.pathname + login.hash, `${PUBLIC_ORIGIN}/auth/login`)
  assert.deepEqual([...login.searchParams], [['return_to', target]])
}

/**
 * A request target as it arrives. Traefik writes the hexadecimal digits of a path in capitals, which means the same (RFC
 * 3986 section 6.2.2.1), and `&` for a semicolon in a query.
 */
export const asPassedBy = (gateway: string, target: string): string => {
  if (gateway !== 'Traefik') return target
  const [path = '', ...query] = target.split('?')
  const normal = path.replaceAll(/%../g, (byte) => byte.toUpperCase())
  return [normal, ...query.map((text) => text.replaceAll(';', '&'))].join('?')
}

/** A location on the public origin, as a request target. */
export const pathOf = (location = ''): string => location.replace(PUBLIC_ORIGIN, '')
