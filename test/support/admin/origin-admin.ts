import assert from 'node:assert/strict'
import { type Answer, createUserAgent } from '../client/user-agent.ts'
import { freePort } from '../network/free-port.ts'
import {
  type Authenticator,
  createAuthenticator,
  type CreationOptions,
  type RequestOptions,
} from '../passkeys/authenticator.ts'
import type { Environment } from '../service/command.ts'
import { runCommandOf } from '../service/operator-commands.ts'
import type { Service } from '../service/service.ts'
import { type AdminBrowser, adminBrowser, csrfTokenOf, OWN_FORM } from './machine-admin.ts'

export const ADMIN_URL = 'https://admin.example.com'

/** The settings of a service with pages for administrators. */
export const adminSettings = async (): Promise<Environment> => ({
  SVC_ADMIN_URL: ADMIN_URL,
  SVC_ADMIN_PORT: String(await freePort()),
})

/** A browser that nobody is signed in to, at the pages as the proxy reaches them. */
export const newAdminBrowser = ({ env }: Pick<Service, 'env'>, headers: Record<string, string> = {}): AdminBrowser => {
  const { host, origin } = new URL(env.SVC_ADMIN_URL ?? ADMIN_URL)
  const always = { host, 'x-forwarded-for': '203.0.113.50', ...headers }
  return adminBrowser(createUserAgent({ url: `http://127.0.0.1:${env.SVC_ADMIN_PORT}`, headers: always }), '', origin)
}

export const newAdminAuthenticator = (): Authenticator => createAuthenticator({ origin: ADMIN_URL })

/** What the script of the pages says of its requests. */
const OWN_SCRIPT = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }

/** Sends JSON as the script of a page, which has given its CSRF token. */
export const sendJson = ({ agent }: AdminBrowser, path: string, body: unknown, csrf: string): Promise<Answer> =>
  agent.send({
    method: 'POST',
    path,
    headers: {
      ...OWN_SCRIPT,
      accept: 'application/json',
      'content-type': 'application/json',
      'x-csrf-token': csrf,
      origin: ADMIN_URL,
    },
    body: JSON.stringify(body),
  })

/** The CSRF token that a page gives its script. */
export const scriptTokenOf = ({ text }: Answer): string => /data-csrf="([\w-]+)"/.exec(text)?.[1] ?? ''

/** Makes the first passkey of an administrator, by the link. */
export const tryToJoin = async (browser: AdminBrowser, link: string, authenticator: Authenticator): Promise<Answer> => {
  const { pathname, search, searchParams } = new URL(link)
  const page = await browser.open(pathname + search)
  const csrf = scriptTokenOf(page) || scriptTokenOf(await browser.open('/'))
  const about = { purpose: 'invite', token: searchParams.get('token') }
  const options = await sendJson(browser, '/join/register/options', about, csrf)
  if (options.status !== 200) return options
  const response = authenticator.register(options.json<CreationOptions>())
  return sendJson(browser, '/join/register', { ...response, ...about }, csrf)
}

/** Signs in with a passkey; `page` is the page that was asked for. */
export const tryToSignIn = async (browser: AdminBrowser, authenticator: Authenticator, page = '/'): Promise<Answer> => {
  const asked = await browser.open(page)
  const csrf = scriptTokenOf(asked)
  const url = /data-url="([^"]+)"/.exec(asked.text)?.[1]?.replaceAll('&amp;', '&') ?? '/passkeys/login'
  const options = await sendJson(browser, '/passkeys/login/options', {}, csrf)
  if (options.status !== 200) return options
  return sendJson(browser, url, authenticator.authenticate(options.json<RequestOptions>()), csrf)
}

/** An administrator who is in. */
type SignedIn = { name: string; browser: AdminBrowser; authenticator: Authenticator }

let made = 0

/** Invites an administrator by command, and makes their passkey. */
export const newAdministrator = async (service: Service, role: 'look' | 'change'): Promise<SignedIn> => {
  made += 1
  const name = `admin-${made}`
  const args = ['admins', 'invite', name, '--email', `${name}@example.com`, '--role', role]
  const link = (await runCommandOf(service, args)).trim()
  const browser = newAdminBrowser(service)
  const authenticator = newAdminAuthenticator()
  const joined = await tryToJoin(browser, link, authenticator)
  assert.equal(joined.status, 201, joined.text)
  return { name, browser, authenticator }
}

/** The response of a passkey for a form that asks for one. */
export const proofFor = async (
  { browser, authenticator }: Pick<SignedIn, 'browser' | 'authenticator'>,
  page: string,
): Promise<string> => {
  const csrf = csrfTokenOf(await browser.open(page, OWN_FORM))
  const options = await sendJson(browser, '/passkeys/login/options', {}, csrf)
  assert.equal(options.status, 200, options.text)
  return JSON.stringify(authenticator.authenticate(options.json<RequestOptions>()))
}
