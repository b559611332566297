// Requests of clients of the OAuth server against those of cookies, with ten thousand grants and with a million.
import { bench, type Run } from './support/bench.ts'
import { sendRequest } from './support/connection.ts'
import type { Child } from './support/child.ts'
import { pinTo } from './support/cores.ts'
import { type Client, load } from './support/load.ts'
import { measureProcessorTime } from './support/processor-time.ts'
import { ratioRow } from './support/report.ts'
import { refreshTokensOf, seed, signInSeeded } from './support/seed.ts'
import { runCommand, startService } from './support/servers.ts'
import { refreshClient, roundRobinClient, type SignedInUser, userClient } from './support/users.ts'

const USERS = 100_000
const FEW = 10_000
const MANY = 1_000_000
const QUICK = 20
const ACTIVE = 2000
const CONNECTIONS = 64
const SLICES = 4
const RESOURCE = 'https://example.com/mcp'
const SETTINGS = {
  SVC_CLIENTS: 'on',
  SVC_CLIENT_RESOURCES: RESOURCE,
  SVC_CLIENT_SCOPES: 'notes:read=Read your notes',
}

interface OAuthClient {
  id: string
  secret?: string
}

/** What a client has got for a user. */
interface Grant {
  client: OAuthClient
  refreshToken: string
  accessToken: string
}

interface Place {
  service: Child
  key: string
  users: SignedInUser[]
  native: Grant[]
  confidential: Grant[]
}

await bench('Clients', async (run) => {
  pinTo('second')
  const few = await populate(run, FEW)
  const many = await populate(run, MANY)
  const kinds: Record<string, (place: Place) => Client[]> = {
    'GET /user': ({ users }) => users.map(userClient),
    'refresh of a cookie': ({ users }) => users.map(refreshClient),
    'refresh, public client': ({ native }) => native.map(grantClient),
    'refresh, confidential client': ({ confidential }) => confidential.map(grantClient),
    'introspection by a key': ({ native, key }) => native.map((grant) => introspection(grant, `Bearer ${key}`)),
    'introspection by a client': ({ confidential }) =>
      confidential.map((grant) => introspection(grant, basic(grant.client))),
  }
  const targets = Object.entries(kinds).flatMap(([what, clientsOf]) =>
    [few, many].map((place) => ({ what, service: place.service, clients: share(clientsOf(place)) })),
  )
  const { timesUs, rates } = await measureEach(run, targets)
  const [user, cookie, open, secret, byKey, byClient] = Object.keys(kinds).map((_, at) => ({
    few: { timesUs: timesUs[2 * at] ?? [], rates: rates[2 * at] ?? [] },
    many: { timesUs: timesUs[2 * at + 1] ?? [], rates: rates[2 * at + 1] ?? [] },
  }))
  if (!user || !cookie || !open || !secret || !byKey || !byClient) throw new Error('a kind was not measured')
  run.note(`${ACTIVE} users, each with a session and a grant to each of two clients, on ${CONNECTIONS} connections.`)
  run.note(
    `Baseline of the last rows: ${FEW.toLocaleString('en')} grants; in both, ${USERS.toLocaleString('en')} users.`,
  )
  run.note('Server on one core, load client on the other; user and system time of all threads.')
  const refresh = { unit: 'µs', baseline: cookie.few.timesUs, goal: { atMost: 1.15 } }
  const introspect = { unit: '/s', baseline: user.few.rates, goal: { atLeast: 0.77 } }
  const alike = { atMost: 1.1 }
  return [
    ratioRow('refresh, public client, against a cookie’s', { ...refresh, svc: open.few.timesUs }),
    ratioRow('refresh, confidential client, against a cookie’s', { ...refresh, svc: secret.few.timesUs }),
    ratioRow('introspection by a key, against GET /user', { ...introspect, svc: byKey.few.rates }),
    ratioRow('introspection by a client, against GET /user', { ...introspect, svc: byClient.few.rates }),
    ...(
      [
        ['refresh, public client', open],
        ['refresh, confidential client', secret],
        ['introspection by a key', byKey],
        ['introspection by a client', byClient],
      ] as const
    ).map(([what, { few, many }]) =>
      ratioRow(`${what}, a million grants`, { unit: 'µs', svc: many.timesUs, baseline: few.timesUs, goal: alike }),
    ),
  ]
})

/** Starts a service with so many grants of two clients; of them, `ACTIVE` for each are in use. */
async function populate(run: Run, grants: number): Promise<Place> {
  const folder = await run.newFolder()
  // The first start creates the schema, the key and the secret.
  await (await startService({ folder, cores: 'first', env: SETTINGS })).stop()
  const made = <T>(...args: string[]): T => runCommand<T>(folder, args, SETTINGS)
  const uri = ['--redirect-uri', 'https://app.example.net/callback']
  const native = made<OAuthClient>('clients', 'create', 'Phone', '--type', 'native', ...uri)
  const confidential = made<OAuthClient>('clients', 'create', 'Reports', ...uri)
  const { key } = made<{ key: string }>('api-keys', 'create', 'bench', '--scope', 'tokens:introspect')
  const part = run.quick ? QUICK : 1
  const count = grants / part
  seed(folder, USERS / part, { count, native: native.id, confidential: confidential.id, resource: RESOURCE })
  const service = run.use(await startService({ folder, cores: 'first', env: SETTINGS }))
  const active = ACTIVE / part
  const users = await signInSeeded(service.port, folder, active)
  const begin = async (client: OAuthClient): Promise<Grant[]> => {
    const all = refreshTokensOf(folder, client.id, active).map((refreshToken) => ({
      client,
      refreshToken,
      accessToken: '',
    }))
    for (const grant of all) {
      const { body, status } = await sendRequest(service.port, postToken(grant))
      if (status !== 200) throw new Error(`a seeded grant could not be refreshed: ${status} ${body.toString()}`)
      keepTokens(grant, body)
    }
    return all
  }
  return { service, key, users, native: await begin(native), confidential: await begin(confidential) }
}

function form(path: string, fields: Record<string, string>, authorization?: string): string {
  const body = new URLSearchParams(fields).toString()
  return (
    `POST /auth/oauth2/${path} HTTP/1.1\r\nHost: localhost\r\n` +
    (authorization ? `Authorization: ${authorization}\r\n` : '') +
    `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )
}

function basic({ id, secret }: OAuthClient): string {
  return `Basic ${Buffer.from(`${id}:${secret ?? ''}`).toString('base64')}`
}

function postToken({ client, refreshToken }: Grant): string {
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken }
  return client.secret ? form('token', fields, basic(client)) : form('token', { ...fields, client_id: client.id })
}

function keepTokens(grant: Grant, body: Buffer): void {
  const { refresh_token, access_token } = JSON.parse(body.toString()) as Record<string, string>
  grant.refreshToken = refresh_token ?? ''
  grant.accessToken = access_token ?? ''
}

/** Refreshes the token of a grant again and again, each time with that of the last response. */
function grantClient(grant: Grant): Client {
  return {
    request: () => postToken(grant),
    expectStatus: 200,
    onResponse: ({ body }) => keepTokens(grant, body),
  }
}

/** Asks about the access token of a grant again and again. */
function introspection({ accessToken }: Grant, authorization: string): Client {
  const request = Buffer.from(form('introspect', { token: accessToken }, authorization))
  return {
    request: () => request,
    expectStatus: 200,
    onResponse: ({ body }) => {
      if (!body.includes('"active":true')) throw new Error(`a token is not good: ${body.toString()}`)
    },
  }
}

/** Divides the clients among the connections. */
function share(clients: Client[]): Client[] {
  const shares = Array.from({ length: CONNECTIONS }, (_, at) => clients.filter((_, n) => n % CONNECTIONS === at))
  return shares.map(roundRobinClient)
}

interface Target {
  service: Child
  clients: Client[]
}

/** Loads the targets in turn; for each, its processor time of a request and its rate, round by round. */
async function measureEach(run: Run, targets: readonly Target[]) {
  const durationMs = run.duration(2000)
  for (const { service, clients } of targets) await load({ port: service.port, clients, durationMs })
  const timesUs: number[][] = targets.map(() => [])
  const rates: number[][] = targets.map(() => [])
  for (let round = 0; round < run.rounds; round++) {
    const sums = await run.round(async () => {
      const all = targets.map(() => ({ timeUs: 0, rate: 0 }))
      for (let slice = 0; slice < SLICES; slice++) {
        for (const [at, { service, clients }] of targets.entries()) {
          const { port, pid } = service
          const used = await measureProcessorTime({ port, clients, durationMs: durationMs / SLICES, pids: [pid] })
          const sum = all[at] ?? { timeUs: 0, rate: 0 }
          sum.timeUs += (used.usedUs[0] ?? Number.NaN) / SLICES
          sum.rate += used.ratePerS / SLICES
        }
      }
      return all
    })
    for (const [at, { timeUs, rate }] of sums.entries()) {
      timesUs[at]?.push(timeUs)
      rates[at]?.push(rate)
    }
  }
  return { timesUs, rates }
}
