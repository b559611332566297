import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Answer, UserAgent } from '../client/user-agent.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import type { Environment } from '../service/command.ts'
import { type Service, startService } from '../service/service.ts'
import { type ServiceProcess, startServiceProcess } from '../service/service-process.ts'

/** A provider of any kind, as tests start it. */
type Provider = {
  issuer?: string
  origin?: string
  clientId: string
  clientSecret: string
  allowRedirect?(uri: string): void
}

/** The settings of these providers, in their order. */
export const providerSettings = (providers: Record<string, Provider>): Environment => {
  const each = Object.entries(providers).map(([name, { issuer, origin, clientId, clientSecret }]) => {
    const begin = `SVC_OAUTH_${name.toUpperCase()}`
    const values = { ISSUER: issuer ?? origin, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret }
    return Object.fromEntries(Object.entries(values).map(([ending, value]) => [`${begin}_${ending}`, value]))
  })
  return Object.assign({ SVC_OAUTH_PROVIDERS: Object.keys(providers).join(',') }, ...each)
}

/** For tests with many sign-ins at once: no response is 503 because the machine is slow. */
export const PATIENT: Environment = { SVC_DATABASE_TIMEOUT: '1m', SVC_OAUTH_TIMEOUT: '1m' }

/** Registers the redirect URIs of a service at that address with the providers. */
export const allowCallbacks = (providers: Record<string, Provider>, baseUrl: string): void => {
  for (const [name, provider] of Object.entries(providers))
    provider.allowRedirect?.(`${baseUrl}/auth/oauth/${name}/callback`)
}

/** Starts a service with these providers, and registers its redirect URIs with them. */
export const startServiceWith = async (
  providers: Record<string, Provider>,
  { env = {}, ...options }: { env?: Environment; cwd?: string; clock?: TurnedClock; t?: TestContext } = {},
): Promise<Service> => {
  const service = await startService({ ...options, env: { ...providerSettings(providers), ...env } })
  allowCallbacks(providers, service.url)
  return service
}

/** The same as a separate process. */
export const startServiceProcessWith = async (
  providers: Record<string, Provider>,
  { env = {}, ...options }: { env?: Environment; t?: TestContext } = {},
): Promise<ServiceProcess> => {
  const service = await startServiceProcess({ ...options, env: { ...providerSettings(providers), ...env } })
  allowCallbacks(providers, service.url)
  return service
}

/** The value of a page's hidden input `pending`, which its forms send. */
export const pendingOn = ({ text }: Answer): string => {
  const value = /name="pending" value="([^"]+)"/.exec(text)?.[1]
  assert.ok(value, text)
  return value
}

/** The statuses of responses, in ascending order. */
export const statusesOf = (answers: Pick<Answer, 'status'>[]): number[] =>
  answers.map(({ status }) => status).sort((a, b) => a - b)

const SESSION_COOKIES = ['svc_access', 'svc_refresh']

/** A page with that status, and no session, neither in the response nor in the browser. */
export const assertNoSession = (agent: UserAgent, answer: Answer, status: number): void => {
  assert.equal(answer.status, status, answer.location ?? answer.text)
  assert.match(answer.headers['content-type'] ?? '', /^text\/html\b/)
  assert.deepEqual(
    answer.setCookies.filter(({ name, value }) => SESSION_COOKIES.includes(name) && value !== ''),
    [],
  )
  for (const name of SESSION_COOKIES) assert.ok(!agent.cookies.get(name), `no ${name}`)
}
