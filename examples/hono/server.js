// Notes: a page for all, a protected page with a form, and webhooks. svc signs the users in.
import { serve } from '@hono/node-server'
import { loadUser, requireUser } from '@svc/sdk/hono'
import { verifyWebhook, WebhookVerificationError } from '@svc/sdk/webhooks'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { html } from 'hono/html'

const app = new Hono()
let notes = [] // an application has a database here

const page = (body) =>
  html`<!doctype html><html lang="en"><title>Notes</title><script src="/auth/session.js" defer></script>${body}`

app.use(bodyLimit({ maxSize: 65_536 }))

app.use(async (c, next) => {
  // A sibling host (evil.example.com beside example.com) could send forms with the user's cookies.
  const site = c.req.header('sec-fetch-site') ?? 'same-origin'
  return c.req.method === 'POST' && site !== 'same-origin' ? c.body(null, 403) : next()
})

app.get('/', loadUser(), (c) => {
  const user = c.get('user')
  const link = user
    ? html`Hello, ${user.username}. <a href="/notes">Your notes</a>`
    : html`<a href="/auth/login?return_to=%2Fnotes">Log in</a>`
  return c.html(page(html`<h1>Notes</h1><p>There are ${notes.length} notes.<p>${link}`))
})

app.get('/notes', requireUser(), (c) => {
  const user = c.get('user')
  const own = notes.filter(({ owner }) => owner === user.id)
  return c.html(
    page(html`<h1>Notes of ${user.username}</h1><ul>${own.map(({ text }) => html`<li>${text}`)}</ul>
<form method="post"><input name="text" aria-label="Note" required><button>Save</button></form>
<p><a href="/auth/logout">Log out</a>`),
  )
})

app.post('/notes', requireUser(), async (c) => {
  const { text } = await c.req.parseBody()
  notes.push({ owner: c.get('user').id, text: typeof text === 'string' ? text : '' })
  return c.redirect('/notes', 303)
})

app.post('/webhooks', async (c) => {
  const event = await verifyWebhook(await c.req.arrayBuffer(), c.req.raw.headers, process.env.SVC_WEBHOOK_SECRET)
  if (event.type === 'user.deleted') notes = notes.filter(({ owner }) => owner !== event.data.user_id)
  return c.body(null, 204)
})

app.onError((error, c) => {
  if (error instanceof WebhookVerificationError) return c.body(null, 401)
  throw error
})

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' })
