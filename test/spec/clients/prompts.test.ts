// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentUser, newAgent, signedUp } from '../../support/client/accounts.ts'
import type { Answer, UserAgent } from '../../support/client/user-agent.ts'
import { answerToClient, authorizePath, CLIENT_SETTINGS, madeClient } from '../../support/clients/authorization.ts'
import { granted } from '../../support/clients/tokens.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { openDatabase } from '../../support/database/database.ts'
import { databaseChoice } from '../../support/database/database-choice.ts'
import { startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

const HALF_AN_HOUR_MS = 30 * 60_000
const clock = turnedClock()
const service = await startService({ clock, env: CLIENT_SETTINGS })
const client = await madeClient(service)
const SCOPE = 'openid notes:read'

// The user of the table has allowed the client all of it, half an hour ago and by a login since.
const old = await signedUp(service)
const hint = (await granted(service, old.agent, client, SCOPE)).id
const ended = old.agent.copy()
await service.cli(['sessions', 'revoke', old.person.email])
await old.agent.post('/auth/login', { email: old.person.email, password: old.person.password })
const other = await signedUp(service)
await granted(service, other.agent, client, SCOPE)
await clock.turnTo(clock.aheadMs() + HALF_AN_HOUR_MS)
const fresh = newAgent(service)
await fresh.get('/auth/login')
await fresh.post('/auth/login', { email: old.person.email, password: old.person.password })

const SESSIONS: Record<string, UserAgent> = {
  none: newAgent(service),
  fresh,
  old: old.agent,
  other: other.agent,
  ended,
}

const PROMPTS = [undefined, 'none', 'login', 'consent', 'select_account', 'login consent']

/** What each prompt leads to, in the order of `PROMPTS`. */
type Cells = readonly [string, string, string, string, string, string]
const NOBODY: Cells = ['login', 'login_required', 'login', 'login', 'login', 'login']
const NOW: Cells = ['code', 'code', 'confirm', 'consent', 'continue', 'confirm']
const TOO_LONG_AGO: Cells = ['confirm', 'login_required', 'confirm', 'confirm', 'confirm', 'confirm']
const NOT_THEM: Cells = [
  'login_required',
  'login_required',
  'login_required',
  'login_required',
  'login_required',
  'login_required',
]

/** The session of the browser, whether an ID token of the user is the hint, and `max_age`. */
const TABLE: readonly (readonly [session: string, hinted: boolean, maxAge: string | undefined, cells: Cells])[] = [
  ...['none', 'ended'].flatMap((session) =>
    [false, true].flatMap((hinted) =>
      [undefined, '0', '600', '86400'].map((maxAge) => [session, hinted, maxAge, NOBODY] as const),
    ),
  ),
  ...[false, true].flatMap((hinted) => [
    ['fresh', hinted, undefined, NOW] as const,
    ['fresh', hinted, '600', NOW] as const,
    ['fresh', hinted, '86400', NOW] as const,
    ['old', hinted, undefined, NOW] as const,
    ['old', hinted, '0', TOO_LONG_AGO] as const,
    ['old', hinted, '600', TOO_LONG_AGO] as const,
    ['old', hinted, '86400', NOW] as const,
  ]),
  ['other', false, undefined, NOW],
  ['other', false, '600', TOO_LONG_AGO],
  ['other', false, '86400', NOW],
  ['other', true, undefined, NOT_THEM],
  ['other', true, '0', NOT_THEM],
  ['other', true, '600', NOT_THEM],
  ['other', true, '86400', NOT_THEM],
]

const outcomeOf = (answer: Answer): string => {
  const { status, location = '', text } = answer
  if (location.startsWith('/auth/login?')) return 'login'
  if (location.startsWith('/auth/account/confirm?')) return 'confirm'
  if (status === 200) return text.includes('>Allow</button>') ? 'consent' : 'continue'
  const told = answerToClient(answer)
  assert.equal(told.get('state'), 'st4te')
  assert.equal(told.get('iss'), `${service.url}/auth`)
  return told.has('code') ? 'code' : String(told.get('error'))
}

for (const [session, hinted, maxAge, cells] of TABLE) {
  const about = `session ${session}, ${hinted ? 'a hint' : 'no hint'}, max_age ${maxAge ?? 'left out'}`
  test(`${about}: ${cells.join(', ')}`, async () => {
    const agent = SESSIONS[session] ?? assert.fail(session)
    for (const [at, prompt] of PROMPTS.entries()) {
      const changes = { scope: SCOPE, prompt, max_age: maxAge, id_token_hint: hinted ? hint : undefined }
      const answer = await agent.get(authorizePath(client.id, changes))
      assert.equal(outcomeOf(answer), cells[at], `${about}, prompt ${prompt ?? 'left out'}`)
    }
  })
}

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

// SQLite has no clock of its own, and no row that one statement waits for.
if (databaseChoice === 'postgres')
  test('a proof is for the request that began before it, however late the database answers', async () => {
    const { agent, person } = await signedUp(service)
    const { id } = await currentUser(agent)
    const database = await openDatabase(service)
    for (const changes of [{ prompt: 'login' }, { max_age: '0' }]) {
      const { location = '' } = await agent.get(authorizePath(client.id, { scope: SCOPE, ...changes }))
      const returnTo = new URL(location, service.url).searchParams.get('return_to') ?? assert.fail(location)
      await database.rows('BEGIN')
      await database.rows('SELECT id FROM users WHERE id = ? FOR UPDATE', id)
      const confirming = agent.post('/auth/account/confirm', { password: person.password, return_to: returnTo })
      await eventually('the login waits for the row of its user', async () => (await database.rows(WAITING)).length > 0)
      await clock.turnTo(clock.aheadMs() + 60_000)
      await database.rows('COMMIT')
      const { location: back = '' } = await confirming
      assert.equal(outcomeOf(await agent.get(back)), 'consent')
    }
  })
