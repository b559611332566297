// Runs on SQLite.
import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { launchChrome } from '../support/browser/chrome.ts'
import { newPerson, type Person } from '../support/client/accounts.ts'
import { EXAMPLES } from '../support/examples/examples.ts'
import { ofThisRun, type RunningExample, startExample } from '../support/examples/running-example.ts'

const browser = await launchChrome()
after(() => browser.close())
const running = await Promise.all(
  ofThisRun(EXAMPLES).map(async (example) => ({ name: example.name, example: await startExample(example) })),
)

const NOTES = '/notes?from=a%26b'
const LOGIN = `/auth/login?return_to=${encodeURIComponent(NOTES)}`

type Visitor = { page: Page; context: BrowserContext; path: () => string }

const openWindow = async ({ url }: RunningExample): Promise<Visitor> => {
  const context = await browser.newContext({ baseURL: url })
  context.setDefaultTimeout(20_000)
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

/** The headers of Standard Webhooks. */
const signedHeaders = (secret: string, body: string | Buffer, { id = randomUUID(), ageSeconds = 0 } = {}) => {
  const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds)
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

for (const { name, example } of running) {
  describe(`examples/${name}`, { concurrency: false }, () => {
    test('a visitor signs up on the way to the protected page, sends its form, and logs out', async (t) => {
      const visitor = await openWindow(example)
      t.after(() => visitor.context.close())
      await visitor.page.goto('/')
      assert.equal(await visitor.page.getByRole('link').getAttribute('href'), '/auth/login?return_to=%2Fnotes')
      const person = await signUpOnTheWay(visitor)
      await addNote(visitor, '<b>bread</b> & "butter"')
      await visitor.page.goto('/')
      await visitor.page.getByText(`Hello, ${person.username}.`).waitFor()
      await visitor.page.goto(NOTES)
      await visitor.page.getByRole('link', { name: 'Log out' }).click()
      await submit(visitor, '/auth/logout', {})
      await visitor.page.goto(NOTES)
      assert.equal(visitor.path(), LOGIN)
    })

    test('a form of a visitor who is logged out changes nothing', async () => {
      const before = await countNotes(example)
      const body = new URLSearchParams({ text: 'forged' })
      const { status } = await fetch(`${example.url}/notes`, { method: 'POST', body, redirect: 'manual' })
      assert.ok([401, 403].includes(status), String(status))
      assert.equal(await countNotes(example), before)
    })

    test('a form on another port of the host, which has the cookies of the user, changes nothing', async (t) => {
      const [attacker, victim] = [await openWindow(example), await openWindow(example)]
      t.after(() => Promise.all([attacker.context.close(), victim.context.close()]))
      await signUpOnTheWay(attacker)
      await signUpOnTheWay(victim)
      const before = await countNotes(example)
      const fields = await attacker.page.locator('form').last().innerHTML()
      const encoding = await attacker.page.locator('form').last().getAttribute('enctype')
      const body = `<form method="post" action="${example.url}/notes" enctype="${encoding}">${fields}</form>`
      await victim.context.route('http://localhost:9999/', (route) => route.fulfill({ contentType: 'text/html', body }))
      await victim.page.goto('http://localhost:9999/')
      await victim.page.getByRole('textbox', { name: 'Note' }).fill('forged')
      const [answer] = await Promise.all([
        victim.page.waitForResponse((response) => response.url().startsWith(`${example.url}/notes`)),
        victim.page.getByRole('button', { name: 'Save' }).click(),
      ])
      assert.ok(answer.status() >= 400, String(answer.status()))
      assert.equal(await countNotes(example), before)
    })

    test('disabling a user counts with the next request', async (t) => {
      const visitor = await openWindow(example)
      t.after(() => visitor.context.close())
      const { email } = await signUpOnTheWay(visitor)
      assert.equal((await example.svc.cli(['users', 'disable', email])).code, 0)
      await visitor.page.goto(NOTES)
      assert.equal(visitor.path(), LOGIN)
    })

    test('a form that is sent after the access token has expired arrives', async (t) => {
      const visitor = await openWindow(example)
      t.after(() => visitor.context.close())
      await signUpOnTheWay(visitor)
      await visitor.page.getByRole('textbox', { name: 'Note' }).fill('written slowly')
      // What a browser has left when both have expired.
      for (const name of ['svc_access', 'svc_fresh']) await visitor.context.clearCookies({ name })
      await addNote(visitor, 'written slowly')
      await addNote(visitor, 'and another')
    })

    test('an event that svc has not signed is refused', async () => {
      const { webhookUrl, webhookSecret } = example
      const body = JSON.stringify({ id: randomUUID(), type: 'webhook.test', data: { user_id: randomUUID() } })
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

    test('an outage of svc is a 503, and logs no user out', async (t) => {
      const visitor = await openWindow(example)
      t.after(() => visitor.context.close())
      await signUpOnTheWay(visitor)
      await example.svc.stop()
      const answer = await visitor.page.goto(NOTES)
      assert.equal(answer?.status(), 503)
      assert.ok(answer.headers()['retry-after'])
      await example.svc.restart()
      assert.equal((await visitor.page.goto(NOTES))?.status(), 200)
      assert.equal(visitor.path(), NOTES)
    })
  })
}
