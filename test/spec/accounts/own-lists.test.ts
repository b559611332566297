// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { currentUser, loggedIn, signedUp } from '../../support/client/accounts.ts'
import {
  assertErrorPage,
  assertPage,
  assertRedirect,
  assertSignedIn,
  assertSignedOut,
} from '../../support/client/assertions.ts'
import { createUserAgent, type UserAgent } from '../../support/client/user-agent.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const operator = await openOperator(service)

const DEVICES = '/auth/account/devices'
const ACTIVITY = '/auth/account/activity'

/** All pages of a list, by the links from each to the next. */
const pagesOf = async (agent: UserAgent, path: string): Promise<string[]> => {
  const pages: string[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer = await agent.get(next)
    assertPage(answer)
    pages.push(answer.text)
    next = /<a [^>]*rel="next" href="([^"]+)"/.exec(answer.text)?.[1]
  }
  return pages
}

const idsOf = (html: string): string[] =>
  [...html.matchAll(/name="session_id" value="([^"]+)"/g)].map(([, id = '']) => id)

/** How often a list says that this happened. */
const count = (html: string, what: string): number => html.split(`<b>${what}</b>`).length - 1

const newUser = async () => {
  const { agent, person } = await signedUp(service)
  return { agent, person, id: (await currentUser(agent)).id }
}

describe('the page of all devices', () => {
  test('lists each session once, the latest login first, although the oldest is used between two pages', async () => {
    const { agent, person } = await newUser()
    const others: UserAgent[] = []
    for (let logins = 0; logins < 28; logins += 1) others.push(await loggedIn(service, person))
    const first = await agent.get(DEVICES)
    assert.equal(idsOf(first.text).length, 25)
    assert.match(first.text, /This device/)
    await others[0]?.refresh()
    const [, next = ''] = /rel="next" href="([^"]+)"/.exec(first.text) ?? []
    const last = await agent.get(next)
    assertPage(last)
    assert.doesNotMatch(last.text, /rel="next"|This device/)
    assert.match(last.text, new RegExp(`<a [^>]*href="${DEVICES}">Newest</a>`))
    const ids = [...idsOf(first.text), ...idsOf(last.text)]
    assert.equal(new Set(ids).size, 28)
    assert.deepEqual(ids, ids.toSorted().toReversed())
  })

  test('ends one session and all others, says so, and stays', async () => {
    const { agent, person } = await newUser()
    const [phone, tablet] = [await loggedIn(service, person), await loggedIn(service, person)]
    const [latest = ''] = idsOf((await agent.get(DEVICES)).text)
    const ended = await agent.post('/auth/account/sessions', { session_id: latest, return_to: DEVICES })
    assert.equal(ended.location, `${DEVICES}?done=session#done`)
    assert.match((await agent.get(ended.location)).text, /role="status"[^>]*>Device logged out\./)
    await assertSignedOut(tablet)
    await assertSignedIn(phone)
    const all = await agent.post('/auth/account/sessions', { all_others: '1', return_to: DEVICES })
    assert.equal(all.location, `${DEVICES}?done=sessions#done`)
    await assertSignedOut(phone)
    const { text } = await agent.get(DEVICES)
    assert.doesNotMatch(text, /session_id|all_others|role="status"/)
    const away = await agent.post('/auth/account/sessions', { all_others: '1', return_to: '//evil.example' })
    assertErrorPage(away, 400)
  })

  test('is the user’s own: a cursor leads to no other account', async () => {
    const [one, other] = [await newUser(), await newUser()]
    await loggedIn(service, other.person)
    const [id = ''] = idsOf((await other.agent.get(DEVICES)).text)
    assert.deepEqual(idsOf((await one.agent.get(`${DEVICES}?cursor=${id}`)).text), [])
  })
})

describe('the page of all activity', () => {
  test('lists each record once, the latest first, page by page, although more are added', async () => {
    const { agent, id } = await newUser()
    for (let changes = 0; changes < 60; changes += 1) await operator.users.change(id, { roles: [`role:${changes}`] })
    const first = await agent.get(ACTIVITY)
    await operator.users.change(id, { roles: ['late'] })
    const [, next = ''] = /rel="next" href="([^"]+)"/.exec(first.text) ?? []
    const last = await agent.get(next)
    assert.equal(count(first.text, 'Roles changed'), 50)
    assert.equal(count(last.text, 'Roles changed'), 10)
    assert.equal(count(last.text, 'Account created'), 1)
    assert.doesNotMatch(last.text, /rel="next"/)
    assert.equal((await pagesOf(agent, ACTIVITY)).length, 2)
  })

  test('has cursors of its own: those of another account and of the server API are refused', async () => {
    const [one, other] = [await newUser(), await newUser()]
    for (let changes = 0; changes < 60; changes += 1) await operator.users.change(other.id, { roles: [`r:${changes}`] })
    const { text } = await other.agent.get(ACTIVITY)
    const [, cursor = ''] = /rel="next" href="[^"]*cursor=([^"]+)"/.exec(text) ?? []
    assertPage(await other.agent.get(`${ACTIVITY}?cursor=${cursor}`))
    assertErrorPage(await one.agent.get(`${ACTIVITY}?cursor=${cursor}`), 400)
    const { nextCursor = '' } = await operator.audit.list({ userId: other.id, limit: 10 })
    assertErrorPage(await other.agent.get(`${ACTIVITY}?cursor=${nextCursor}`), 400)
  })
})

test('a cursor that is none is 400, and names the parameter', async () => {
  const { agent } = await newUser()
  for (const path of [DEVICES, ACTIVITY])
    for (const cursor of ['', 'x', "' OR 1=1 --", '%00', 'a'.repeat(500), `${randomUUID()}x`]) {
      const answer = await agent.get(`${path}?cursor=${encodeURIComponent(cursor)}`)
      assertErrorPage(answer, 400)
      assert.match(answer.text, /cursor/, cursor)
    }
})

test('a visitor logs in first, and comes back to the page', async () => {
  for (const path of [DEVICES, ACTIVITY]) {
    const answer = await createUserAgent(service).get(path)
    assertRedirect(answer, `/auth/login?return_to=${encodeURIComponent(path)}`)
  }
})
