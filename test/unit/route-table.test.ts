// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HttpResponse, json } from '../../src/http/response.ts'
import type { Documentation, Route } from '../../src/http/route.ts'
import { routeTable } from '../support/service/route-table.ts'

const routes = routeTable('company')

const handle = (): HttpResponse => json(200, '{}')

const documentation: Documentation = { operationId: 'new', summary: 'New', tag: 'Users', responses: {} }

/** As every kind of row wants it. */
const module = () => ({ show: handle, act: handle, handle, documentation })

/** Rows that the compiler must refuse: where it accepts one, `npm run check:types` reports an unused directive. */
export const REFUSED: Route[] = [
  // @ts-expect-error: no guard
  { method: 'GET', path: '/auth/new', responseKind: 'html', module },
  // @ts-expect-error: a state-changing method without a CSRF rule
  { method: 'POST', path: '/auth/new', guard: 'none', responseKind: 'html', module },
  // @ts-expect-error: another method without a CSRF rule
  { method: 'DELETE', path: '/auth/new', guard: 'none', responseKind: 'json', module },
  // @ts-expect-error: no cookie, so no CSRF token, but no key either
  { method: 'POST', path: '/auth/new', guard: 'session', csrf: 'api_key', responseKind: 'html', module },
  // @ts-expect-error: a key without a scope
  { method: 'GET', path: '/auth/new', guard: 'api_key', responseKind: 'json', module },
  // @ts-expect-error: a change that needs a key and does not say so
  {
    method: 'DELETE',
    path: '/auth/new',
    guard: 'api_key',
    scope: 'users:write',
    responseKind: 'json',
    module,
  },
  // @ts-expect-error: a POST of the server API whose response is not kept
  {
    method: 'POST',
    path: '/auth/new',
    guard: 'api_key',
    scope: 'users:write',
    csrf: 'api_key',
    responseKind: 'json',
    module,
  },
  // @ts-expect-error: no response kind
  { method: 'GET', path: '/auth/new', guard: 'none', module },
  // @ts-expect-error: JSON without documentation
  { method: 'GET', path: '/auth/new', guard: 'none', responseKind: 'json', module: () => ({ handle }) },
  // @ts-expect-error: a path outside /auth
  { method: 'GET', path: '/new', guard: 'none', responseKind: 'html', module },
]

test('each method of a path has one row', () => {
  const rows = routes.map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(rows, [...new Set(rows)])
})

test('every POST needs a CSRF token, except those with an API key, those of programs, and those that only redirect to the GET', () => {
  const posts = routes.filter((route) => route.method === 'POST' && route.guard !== 'api_key')
  assert.ok(posts.length > 10)
  assert.deepEqual(
    posts.filter(({ csrf }) => csrf !== 'token').map(({ path, csrf }) => [path, csrf]),
    [
      ['/auth/oauth2/authorize', 'changes_nothing'],
      ['/auth/oauth2/logout', 'changes_nothing'],
      ...['token', 'revoke', 'register', 'userinfo', 'introspect'].map((name) => [`/auth/oauth2/${name}`, 'no_cookie']),
      ['/auth/oauth/company/callback', 'changes_nothing'],
    ],
  )
  assert.ok(posts.every(({ csrf, responseKind }) => (csrf === 'no_cookie') === (responseKind === 'oauth')))
})

test('only the check for proxies answers every method, and all that it can do is to look at a session', () => {
  const any = routes.filter(({ method, isPrefix }) => method === 'ANY' || isPrefix)
  assert.deepEqual(
    any.map(({ path, guard, responseKind }) => [path, guard, responseKind]),
    [
      ['/auth/check', 'access_token', 'check'],
      ['/auth/check/forward', 'access_token', 'check'],
    ],
  )
})

test('the server API takes an API key alone, but for its description', () => {
  const api = routes.filter(({ path }) => path.startsWith('/auth/api/v2/'))
  assert.deepEqual(
    api.filter(({ guard }) => guard !== 'api_key').map(({ path }) => path),
    ['/auth/api/v2/openapi.json'],
  )
  assert.deepEqual(
    routes.filter(({ guard }) => guard === 'api_key'),
    api.filter(({ guard }) => guard === 'api_key'),
  )
})

test('every form is shown again when its CSRF token alone is not good, except what only leads elsewhere', async () => {
  const forms = routes.filter((route) => route.method === 'POST' && route.responseKind === 'html')
  const modules = await Promise.all(forms.map(async ({ path, module }) => ({ path, module: await module() })))
  assert.deepEqual(
    modules.filter(({ module }) => !('showAgain' in module)).map(({ path }) => path),
    [
      '/auth/language',
      '/auth/oauth2/authorize',
      '/auth/oauth2/logout',
      '/auth/oauth/company',
      '/auth/oauth/company/callback',
    ],
  )
})

test('every form and page of the account asks for a session, but for those that a link from a message opens', () => {
  const own = routes.filter(({ method, path }) => path.startsWith('/auth/account') && method === 'POST')
  const pages = routes.filter(({ method, path }) => /^\/auth\/account(?:\/confirm)?$/.test(path) && method === 'GET')
  assert.equal(pages.length, 2)
  const open = [...own, ...pages].filter(({ guard }) => guard !== 'session')
  assert.deepEqual(
    open.map(({ path }) => path),
    ['/auth/account/first-factor', '/auth/account/not-me'],
  )
})
