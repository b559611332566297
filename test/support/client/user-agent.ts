import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, RequestOptions } from 'node:http'
import { type CookieJar, type SetCookie, clearsCookie, createCookieJar, parseSetCookie } from './cookie-jar.ts'

// An import would also load all of fetch in every process of the tests.
const http = process.getBuiltinModule('node:http')

/** The whole response. */
export type Answer = {
  status: number
  headers: IncomingHttpHeaders
  text: string
  location: string | undefined
  setCookies: SetCookie[]
  /** The Set-Cookie of that name in this response. */
  cookie(name: string): SetCookie | undefined
  /** The names of the cookies that this response removes. */
  cleared: string[]
  json<T>(): T
}

/** Fields of a form; a list sends the field several times. */
export type Form = Record<string, string | string[]>

export type Request = {
  method: string
  path: string
  /** A `cookie` here replaces the jar's; `cookie: []` sends none. */
  headers?: OutgoingHttpHeaders
  body?: string | Buffer
}

/** An HTTP client that keeps cookies, follows no redirects, and can send invalid requests. */
export type UserAgent = {
  url: string
  cookies: CookieJar
  send(request: Request): Promise<Answer>
  get(path: string, headers?: OutgoingHttpHeaders): Promise<Answer>
  /** Submits a form like a page, with the CSRF token of the jar. Without a token, it requests a page first. */
  post(path: string, form?: Form, headers?: OutgoingHttpHeaders): Promise<Answer>
  /** Refreshes the session like the script of an application. */
  refresh(query?: string, headers?: OutgoingHttpHeaders): Promise<Answer>
  /** Another agent with a copy of the cookies, like a thief or a second tab. */
  copy(): UserAgent
}

/** The body of a form. */
export const urlEncoded = (form: Form): string => {
  const body = new URLSearchParams()
  for (const [name, values] of Object.entries(form)) for (const value of [values].flat()) body.append(name, value)
  return body.toString()
}

const toAnswer = (response: IncomingMessage, text: string): Answer => {
  const setCookies = (response.headers['set-cookie'] ?? []).map(parseSetCookie)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    location: response.headers.location,
    setCookies,
    cookie: (name) => setCookies.find((cookie) => cookie.name === name),
    cleared: setCookies.filter(clearsCookie).map(({ name }) => name),
    json: <T>(): T => {
      const value: T = JSON.parse(text)
      return value
    },
  }
}

const exchange = (
  options: RequestOptions,
  body: string | Buffer | undefined,
  arrived: (answer: Answer) => void,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = http.request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const answer = toAnswer(response, Buffer.concat(chunks).toString('utf8'))
        arrived(answer)
        resolve(answer)
      })
    })
    request.on('error', reject)
    request.end(body)
  })

/** Where a user agent sends its requests, and headers that each of them has. */
export type Site = { url: string; headers?: OutgoingHttpHeaders }

/** A user agent for the service at `url`. It connects to the loopback address and sends the host of `url`. */
export const createUserAgent = (
  { url, headers: always = {} }: Site,
  cookies: CookieJar = createCookieJar(),
): UserAgent => {
  const { host, port } = new URL(url)
  const connections = new http.Agent({ keepAlive: true, maxSockets: 64 })

  const send = ({ method, path, headers = {}, body }: Request) => {
    const jarCookies = cookies.header(path.split('?')[0] ?? path)
    const cookie = jarCookies === undefined ? {} : { cookie: jarCookies }
    const sent: OutgoingHttpHeaders = { host, ...cookie, ...always, ...headers }
    if (Array.isArray(sent.cookie) && sent.cookie.length === 0) delete sent.cookie
    if (body !== undefined && sent['transfer-encoding'] === undefined) {
      sent['content-length'] ??= Buffer.byteLength(body)
    }
    const options = { host: '127.0.0.1', port, method, path, headers: sent, agent: connections }
    return exchange(options, body, ({ setCookies }) => cookies.keep(setCookies))
  }

  /** A fragment stays in the browser. */
  const get = (path: string, headers: OutgoingHttpHeaders = {}) =>
    send({ method: 'GET', path: path.replace(/#.*/, ''), headers })

  /** Its name depends on SVC_COOKIE_PREFIX. */
  const csrfCookie = () => cookies.get('__Host-svc_csrf') ?? cookies.get('svc_csrf')

  const csrfToken = async () => {
    if (csrfCookie() === undefined) await get('/auth/login?return_to=%2F')
    return csrfCookie() ?? ''
  }

  return {
    url,
    cookies,
    send,
    get,
    post: async (path, form = {}, headers = {}) => {
      const fields: Form = { csrf_token: await csrfToken(), ...form }
      const type = { 'content-type': 'application/x-www-form-urlencoded' }
      return send({ method: 'POST', path, headers: { ...type, ...headers }, body: urlEncoded(fields) })
    },
    refresh: (query = 'audience=app', headers = {}) =>
      send({
        method: 'POST',
        path: `/auth/api/v1/sessions/refresh${query === '' ? '' : `?${query}`}`,
        headers: { 'x-csrf-token': csrfCookie() ?? '', ...headers },
      }),
    copy: () => createUserAgent({ url, headers: always }, cookies.copy()),
  }
}
