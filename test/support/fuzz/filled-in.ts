import type { Request, UserAgent } from '../client/user-agent.ts'
import type { Pantry } from './pantry.ts'
import type { FuzzRequest, Pairs } from './request.ts'
import { textOf, type Value } from './value.ts'

/** Of a part of a request: more would be refused before anything looks at it. */
const MOST_BYTES = 8000

const encoded = (pairs: Pairs, pantry: Pantry): string =>
  pairs
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(textOf(value, pantry))}`)
    .join('&')
    .slice(0, MOST_BYTES)

const isValue = (value: unknown): value is Value =>
  typeof value === 'object' && value !== null && ('kept' in value || 'text' in value || 'fresh' in value)

const withShown = (path: string, shown: number, form: Pairs, pantry: Pantry): Pairs => {
  const changed = new Set(form.map(([name]) => name))
  const fields = pantry.form(path, shown).filter(([name]) => !changed.has(name))
  return [...fields.map(([name, text]): [string, Value] => [name, { text }]), ...form]
}

const bodyOf = ({ path, body }: FuzzRequest, pantry: Pantry): string | undefined => {
  if (body === undefined) return undefined
  if ('shown' in body) return encoded(withShown(path, body.shown, body.form, pantry), pantry)
  if ('form' in body) return encoded(body.form, pantry)
  if ('text' in body) return body.text
  return JSON.stringify(body.json, (_, value: unknown) => (isValue(value) ? textOf(value, pantry) : value)) ?? ''
}

/** Cookies cannot be percent-encoded; what no client can send as a header is left out. */
const inHeader = (text: string): string => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')

/** The request as it is sent by a browser with these cookies. */
export const toRequest = (fuzzed: FuzzRequest, { cookies: jar }: UserAgent, pantry: Pantry): Request => {
  const { method, path, parameters, tail, query, cookies, csrf, key, type, headers } = fuzzed
  let used = 0
  const filled = path.replaceAll(/\{\w+\}/g, () =>
    encodeURIComponent(textOf(parameters[used++ % 2 ? 1 : 0], pantry)).slice(0, MOST_BYTES),
  )
  const search = encoded(query, pantry)
  const own = cookies === 'own'
  const sent = own ? [] : cookies.map(([name, value]) => [inHeader(name), inHeader(textOf(value, pantry))])
  const token = own ? jar.get('svc_csrf') : sent.find(([name]) => name === 'svc_csrf')?.[1]
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(fuzzed, pantry)
  return {
    method,
    path: `${filled}${tail}${search === '' ? '' : `?${search}`}`,
    headers: {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(csrf && token ? { 'x-csrf-token': token } : {}),
      ...(key === undefined ? {} : { authorization: `Bearer ${inHeader(textOf(key, pantry))}` }),
      ...(own
        ? {}
        : {
            cookie: sent
              .map((each) => each.join('='))
              .join('; ')
              .slice(0, MOST_BYTES),
          }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  }
}
