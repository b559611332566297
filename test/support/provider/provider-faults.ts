import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUserAgent, type UserAgent } from '../client/user-agent.ts'
import { openDatabase } from '../database/database.ts'
import { type MisbehavingProvider, startMisbehavingProvider } from './misbehaving-provider.ts'
import type { Claims, Fault } from './misbehaving-provider-faults.ts'
import { assertRefusal, type Failure, RETURN_TO } from './provider-failure-page.ts'
import type { Callback } from './provider-pages.ts'
import { PATIENT, startServiceWith } from './provider-service.ts'
import { returnFromProvider, startAt } from './provider-sign-in.ts'

/** Discovery documents that svc refuses as a whole, so that no browser is sent away. */
export const UNUSABLE_METADATA = [
  'no-authorization-endpoint',
  'no-token-endpoint',
  'no-jwks-uri',
  'foreign-endpoints',
  'foreign-authorization-endpoint',
  'foreign-token-endpoint',
  'foreign-jwks-uri',
  'foreign-userinfo-endpoint',
  'script-authorization-endpoint',
  'authorization-endpoint-not-text',
] as const satisfies NonNullable<Fault['discovery']>[]

/** The name of the provider for a test with a faulty discovery document. */
export const nameFor = (fault: string): string => fault.replaceAll('-', '')

export type Failures = Record<string, Omit<Failure, 'status' | 'problem'>>

/** A failure for each value of one fault. */
export const each = <Name extends keyof Fault>(
  name: Name,
  values: NonNullable<Fault[Name]>[],
  besides = {},
): Failures =>
  Object.fromEntries(
    values.map((value) => [`${name} ${JSON.stringify(value)}`, { fault: { [name]: value }, ...besides }]),
  )

/** The same callback with other parameters. */
export const withQuery = (callback: Callback, change: (query: URLSearchParams) => void): Callback => {
  const url = new URL(callback.url)
  change(url.searchParams)
  return { method: 'GET', url: url.href }
}

/** A name that would run a script on a page that shows it. */
export const HOSTILE_NAME = '<img src=x onerror=alert(1)>"\'&'
let people = 0

/** The claims about a new person. */
export const newClaims = (claims: Claims = {}): Claims => {
  people += 1
  const email = `visitor${people}@example.com`
  return { sub: `subject-${people}`, email, email_verified: true, name: HOSTILE_NAME, ...claims }
}

const TABLES = ['users', 'identities', 'sessions']
const SECRET_PARAMETERS = ['state', 'nonce', 'code', 'code_challenge', 'code_verifier', 'client_secret']
const HARMLESS = ['', 'a-code', 'a-code-of-another-provider', 'a-state-of-somebody-else']

/**
 * Starts three misbehaving providers and a service with them. svc caches the discovery document and the keys of a
 * provider by its name. A test with a fault in those uses the provider under a name that has no cached ones.
 */
export const startFaultyProviders = async () => {
  const corp = await startMisbehavingProvider()
  const lab = await startMisbehavingProvider({ profile: 'gitlab' })
  const rival = await startMisbehavingProvider()
  const providers: Record<string, MisbehavingProvider> & { corp: MisbehavingProvider; rival: MisbehavingProvider } = {
    corp,
    rival,
    gitlab: lab,
    ...Object.fromEntries(
      ['unseen', 'keyless', 'basic', 'post', 'unsaid', 'pkceless', 'plain'].map((name) => [name, corp]),
    ),
    ...Object.fromEntries(UNUSABLE_METADATA.map((fault) => [nameFor(fault), corp])),
  }
  const service = await startServiceWith(providers, { env: PATIENT })
  const databases = new Map([[service, await openDatabase(service)]])

  const newAgent = (at = service) => createUserAgent(at)

  /** The rows of a query of the service's database. */
  const rows = async (sql: string, ...values: string[]) => (await databases.get(service)?.rows(sql, ...values)) ?? []

  const countRows = async (at = service): Promise<Record<string, unknown>> => {
    const database = databases.get(at) ?? (await openDatabase(at))
    databases.set(at, database)
    const counts = TABLES.map(async (table) => {
      const [row] = await database.rows(`SELECT COUNT(*) AS count FROM ${table}`)
      return [table, Number(row?.count)]
    })
    return Object.fromEntries(await Promise.all(counts))
  }

  const secrets = new Set<string>([corp.clientSecret, lab.clientSecret, rival.clientSecret])
  const keepSecrets = (parameters: URLSearchParams) => {
    for (const name of SECRET_PARAMETERS) for (const value of parameters.getAll(name)) secrets.add(value)
  }

  const visit = async (provider: MisbehavingProvider, url: string, claims: Claims): Promise<Callback> => {
    const callback = await provider.visit(url, { person: claims })
    for (const address of [url, callback.url]) keepSecrets(new URL(address).searchParams)
    return callback
  }

  /** Signs in with the provider, which has the fault from now on. */
  const visitAndReturn = async (
    agent: UserAgent,
    provider: MisbehavingProvider,
    url: string,
    { fault, claims }: { fault: Fault; claims: Claims },
  ) => {
    provider.fault = fault
    return returnFromProvider(agent, await visit(provider, url, claims))
  }

  /** Checks that a sign-in with a misbehaving provider ends with a page, and without any other effect. */
  const assertFails = async (failure: Failure, at = service) => {
    const { provider: name = 'corp', fault } = failure
    const provider = providers[name] ?? corp
    const agent = newAgent(at)
    const claims = newClaims(failure.claims)
    const before = await countRows(at)
    provider.fault = failure.at === 'start' || fault.discovery ? fault : {}
    const started = await agent.post(`/auth/oauth/${name}`, { return_to: RETURN_TO })
    if (failure.at !== 'start') assert.equal(started.status, 303, started.text)
    const answer =
      failure.at === 'start'
        ? started
        : await visitAndReturn(agent, provider, started.location ?? '', { fault, claims })
    provider.fault = {}
    await assertRefusal(at, agent, answer, { failure, claims })
    assert.deepEqual(await countRows(at), before)
  }

  /** Registers a test for each failure. */
  const testFailures = (status: number, problem: string, failures: Failures) => {
    for (const [title, failure] of Object.entries(failures)) {
      test(`${title}: ${status} ${problem}`, () => assertFails({ status, problem, ...failure }))
    }
  }

  /** Goes to a provider; resolves to the callback with which the browser comes back. */
  const callbackFor = async (
    agent: UserAgent,
    claims = newClaims(),
    name: 'corp' | 'rival' = 'corp',
    form = {},
  ): Promise<Callback> => {
    const url = await startAt(agent, name, { return_to: RETURN_TO, ...form })
    return visit(providers[name], url, claims)
  }

  /** Checks that the logs contain no code, state, token, client secret or verifier of the requests so far. */
  const assertNoSecretsLogged = (logs: string, { atLeast }: { atLeast: number }) => {
    for (const { requests } of [corp, lab, rival]) {
      for (const { form, headers } of requests) {
        keepSecrets(form)
        const [, basic, bearer] = /^(?:Basic (.+)|Bearer (.+))$/.exec(headers.authorization ?? '') ?? []
        for (const secret of [basic, bearer]) if (secret) secrets.add(secret)
      }
    }
    for (const harmless of HARMLESS) secrets.delete(harmless)
    assert.ok(secrets.size > atLeast, `${secrets.size} secrets`)
    for (const secret of secrets) assert.ok(!logs.includes(secret), `the log has ${secret}`)
    assert.doesNotMatch(logs, /eyJ[\w-]{10}|access_token=/)
  }

  return {
    corp,
    lab,
    rival,
    providers,
    service,
    newAgent,
    rows,
    countRows,
    visitAndReturn,
    assertFails,
    testFailures,
    callbackFor,
    assertNoSecretsLogged,
  }
}
