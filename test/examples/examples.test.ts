// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { WebSocket as WebSocketClient } from 'ws'
import { launchChrome } from '../support/browser/chrome.ts'
import { newPerson, type Person } from '../support/client/accounts.ts'
import { EXAMPLES } from '../support/examples/examples.ts'
import { signedHeaders } from '../support/examples/signed-event.ts'
import { eventually } from '../support/wait.ts'
import { canRun, type RunningExample, startExample } from '../support/examples/running-example.ts'

const browser = await launchChrome()
after(() => browser.close())
const running = await Promise.all(
  EXAMPLES.filter(({ name, runtime }) => canRun(name) && runtime !== 'vite').map(async (example) => ({
    name: example.name,
    isLive: example.isLive,
    example: await startExample(example),
  })),
)

const NOTES = '/notes?from=a%26b'
const LOGIN = `/auth/login?return_to=${encodeURIComponent(NOTES)}`

type Visitor = { page: Page; context: BrowserContext; path: () => string }

const openWindow = async ({ url }: RunningExample): Promise<Visitor> => {
  const context = await browser.newContext({ baseURL: url })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  return { page, context, path: () => page.url().slice(url.length) }
}

/** Fills in the form that posts to `action`, sends it and waits for the next page. */
const submit = async ({ page }: Visitor, action: string, fields: Record<string, string>): Promise<void> => {
  const form = page.locator(`form[action="${action}"]`).last()
  for (const [name, value] of Object.entries(fields)) await form.locator(`input[name="${name}"]`).fill(value)
  await Promise.all([page.waitForEvent('load'), form.locator('button:not([type="button"])').last().click()])
}

/** Opens the protected page as a visitor without an account, signs up on the way, and arrives there. */
const signUpOnTheWay = async (visitor: Visitor): Promise<Person> => {
  const person = newPerson()
  await visitor.page.goto(NOTES)
  assert.equal(visitor.path(), LOGIN)
  await visitor.page.locator('a[href^="/auth/signup"]').click()
  await submit(visitor, '/auth/signup', { ...person })
  assert.equal(visitor.path(), NOTES)
  await visitor.page.getByRole('heading', { name: `Notes of ${person.username}` }).waitFor()
  return person
}

const addNote = async ({ page }: Visitor, text: string): Promise<void> => {
  await page.getByRole('textbox', { name: 'Note' }).fill(text)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('listitem').getByText(text, { exact: true }).waitFor()
}

const countNotes = async ({ url }: RunningExample): Promise<number> => {
  const text = await (await fetch(url)).text()
  return Number(/There are (?:<!-- -->)?(\d+)/.exec(text)?.[1])
}

for (const { name, isLive, example } of running) {
  // One user for most tests, since a browser and a password cost much: the tests of an example run in this order.
  describe(`examples/${name}`, { concurrency: false }, () => {
    let member: Visitor
    let stranger: Visitor
    let strangerPassword = ''
    before(async () => {
      member = await openWindow(example)
      stranger = await openWindow(example)
    })
    after(() => Promise.all([member.context.close(), stranger.context.close()]))

    test('a visitor signs up on the way to the protected page, sends its form, logs out, and logs in', async () => {
      const { page, path } = member
      await page.goto('/')
      assert.equal(
        await page.getByRole('link', { name: 'Log in' }).getAttribute('href'),
        '/auth/login?return_to=%2Fnotes',
      )
      const { email, password, username } = await signUpOnTheWay(member)
      await addNote(member, '<b>bread</b> & "butter"')
      await page.goto('/')
      await page.getByText(`Hello, ${username}.`).waitFor()
      await page.goto(NOTES)
      await page.getByRole('link', { name: 'Log out' }).click()
      await submit(member, '/auth/logout', {})
      await page.goto(NOTES)
      assert.equal(path(), LOGIN)
      await submit(member, '/auth/login', { email, password })
      assert.equal(path(), NOTES)
    })

    test('a cookie of another host that is not ASCII is no error', async () => {
      const headers = { cookie: 'x=\u00e9; y=%; svc_access=x', accept: 'text/html' }
      const { status } = await fetch(`${example.url}/notes`, { headers, redirect: 'manual' })
      assert.ok([302, 303, 401].includes(status), String(status))
    })

    test('a form of a visitor who is logged out changes nothing', async () => {
      const before = await countNotes(example)
      const body = new URLSearchParams({ text: 'forged' })
      const { status } = await fetch(`${example.url}/notes`, { method: 'POST', body, redirect: 'manual' })
      assert.ok([401, 403].includes(status), String(status))
      assert.equal(await countNotes(example), before)
    })

    test('a form on another port of the host, which has the cookies of the user, changes nothing', async () => {
      ;({ password: strangerPassword } = await signUpOnTheWay(stranger))
      const form = stranger.page.locator('form').last()
      const [fields, encoding] = [await form.innerHTML(), await form.getAttribute('enctype')]
      const body = `<form method="post" action="${example.url}/notes" enctype="${encoding}">${fields}</form>`
      const { page, context } = member
      const before = await countNotes(example)
      await context.route('http://localhost:9999/', (route) => route.fulfill({ contentType: 'text/html', body }))
      await page.goto('http://localhost:9999/')
      await page.getByRole('textbox', { name: 'Note' }).fill('forged')
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.url().startsWith(`${example.url}/notes`)),
        page.getByRole('button', { name: 'Save' }).click(),
      ])
      assert.ok(answer.status() >= 400, String(answer.status()))
      assert.equal(await countNotes(example), before)
    })

    test('a form that is sent after the access token has expired arrives', async () => {
      const { page, context } = member
      await page.goto(NOTES)
      await page.getByRole('textbox', { name: 'Note' }).fill('written slowly')
      // What a browser has left when both have expired.
      for (const cookie of ['svc_access', 'svc_fresh']) await context.clearCookies({ name: cookie })
      await addNote(member, 'written slowly')
      await addNote(member, 'and another')
    })

    test('the notes of a deleted account go with its event', async () => {
      const before = await countNotes(example)
      await addNote(stranger, 'bread')
      assert.equal(await countNotes(example), before + 1)
      await stranger.page.goto('/auth/account')
      await stranger.page.locator('details:has(form[action="/auth/account/delete"]) > summary').click()
      await submit(stranger, '/auth/account/delete', { password: strangerPassword })
      await eventually('the notes are gone', async () => (await countNotes(example)) === before)
    })

    test('an event that svc has not signed is refused', async () => {
      const { webhookUrl, webhookSecret } = example
      const body = JSON.stringify({
        id: randomUUID(),
        type: 'webhook.test',
        created_at: new Date().toISOString(),
        data: { user_id: randomUUID() },
      })
      const send = async (headers: Record<string, string>, sent: string | Buffer = body) =>
        (await fetch(webhookUrl, { method: 'POST', headers, body: sent })).status
      const genuine = signedHeaders(webhookSecret, body)
      const unreadable = Buffer.from([0xff, 0xfe])
      assert.equal(await send(genuine), 204)
      assert.equal(await send(genuine, `${body} `), 401, 'another body')
      assert.equal(await send({}), 401, 'no signature')
      assert.equal(await send({ ...genuine, 'webhook-id': randomUUID() }), 401, 'another id')
      assert.equal(await send(signedHeaders(`whsec_${'A'.repeat(44)}`, body)), 401, 'another secret')
      assert.equal(await send(signedHeaders(webhookSecret, body, { ageSeconds: 600 })), 401, 'an old event')
      for (const signature of ['', 'x', 'v1', 'v1,', 'v1,%', 'v2,aaaa'])
        assert.equal(await send({ ...genuine, 'webhook-signature': signature }), 401, signature)
      assert.equal(await send({ ...genuine, 'webhook-timestamp': 'soon' }), 401, 'no time')
      assert.equal(await send(signedHeaders(`whsec_${'A'.repeat(44)}`, unreadable), unreadable), 401, 'no UTF-8')
    })

    if (isLive) {
      test('a WebSocket brings the notes of another tab, is kept by a renewal, and is closed by a logout there', async () => {
        const { page: tab } = await openWindow(example)
        const visitor = { page: tab, context: tab.context(), path: () => tab.url().slice(example.url.length) }
        const opened = tab.waitForEvent('websocket')
        await signUpOnTheWay(visitor)
        const socket = await opened
        const other = await visitor.context.newPage()
        await other.goto(`${example.url}/notes`)
        await addNote({ ...visitor, page: other }, 'from the other tab')
        await tab.getByRole('listitem').getByText('from the other tab', { exact: true }).waitFor()
        const csrf = (await visitor.context.cookies()).find(({ name: cookie }) => cookie === 'svc_csrf')?.value ?? ''
        const renewed = await visitor.context.request.post('/auth/api/v1/sessions/refresh?audience=app', {
          headers: { 'x-csrf-token': csrf },
        })
        assert.equal(renewed.status(), 200)
        await addNote({ ...visitor, page: other }, 'after the renewal')
        await tab.getByRole('listitem').getByText('after the renewal', { exact: true }).waitFor()
        assert.equal(socket.isClosed(), false)
        await other.getByRole('link', { name: 'Log out' }).click()
        await submit({ ...visitor, page: other }, '/auth/logout', {})
        await tab.waitForURL(example.url + LOGIN)
        assert.ok(socket.isClosed())
        await visitor.context.close()
      })

      test('a WebSocket of a sibling host, or of a visitor, is refused', async () => {
        const cookie = (await member.context.cookies()).map(({ name: n, value }) => `${n}=${value}`).join('; ')
        const statusWith = async (headers: Record<string, string>): Promise<number> => {
          const socket = new WebSocketClient(`${example.url.replace('http', 'ws')}/live`, { headers })
          socket.on('error', () => {})
          const [response] = await Promise.race([
            once(socket, 'unexpected-response').then(([, answer]) => [answer as IncomingMessage]),
            once(socket, 'open').then(() => [undefined]),
          ])
          socket.terminate()
          return response?.statusCode ?? 101
        }
        assert.equal(await statusWith({ cookie, origin: example.url }), 101)
        assert.equal(await statusWith({ cookie, origin: 'http://localhost:9999' }), 403)
        assert.equal(await statusWith({ cookie }), 403)
        assert.equal(await statusWith({ origin: example.url }), 401)
      })
    }

    test('an outage of svc is a 503, and logs no user out', async () => {
      const { page, path } = member
      await example.svc.stop()
      const answer = await page.goto(NOTES)
      assert.equal(answer?.status(), 503)
      assert.ok(answer.headers()['retry-after'])
      await example.svc.restart()
      assert.equal((await page.goto(NOTES))?.status(), 200)
      assert.equal(path(), NOTES)
    })

    test('disabling a user counts with the next request', async () => {
      const { email } = (await (await member.context.request.get('/auth/api/v1/user')).json()) as { email: string }
      assert.equal((await example.svc.cli(['users', 'disable', email])).code, 0)
      await member.page.goto(NOTES)
      assert.equal(member.path(), LOGIN)
    })
  })
}
