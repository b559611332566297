// Notes: a page for all, a protected page with a form and a WebSocket, and webhooks. svc signs the users in.
import { serve, upgradeWebSocket } from '@hono/node-server'
import { loadUser, requireUser } from '@svc/sdk/hono'
import { createAuth } from '@svc/sdk/server'
import { verifyWebhook, WebhookVerificationError } from '@svc/sdk/webhooks'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { html, raw } from 'hono/html'
import { WebSocketServer } from 'ws'

const app = new Hono()
const auth = createAuth({ revocations: {} })
const live = new Map() // by WebSocket, the user
let notes = [] // an application has a database here

const page = (body) =>
  html`<!doctype html><html lang="en"><title>Notes</title><script src="/auth/session.js" defer></script>${body}`

app.use(bodyLimit({ maxSize: 65_536 }))

app.use(async (c, next) => {
  // A sibling host (evil.example.com beside example.com) could send forms, and open a WebSocket, with the user's cookies.
  const { upgrade, origin, host, 'sec-fetch-site': site = 'same-origin' } = c.req.header()
  const isOwn = upgrade ? origin?.endsWith(`//${host}`) : c.req.method !== 'POST' || site === 'same-origin'
  return isOwn ? next() : c.body(null, 403)
})

app.get('/', loadUser(), (c) => {
  const user = c.get('user')
  const link = user
    ? html`Hello, ${user.username}. <a href="/notes">Your notes</a>`
    : html`<a href="/auth/login?return_to=%2Fnotes">Log in</a>`
  return c.html(page(html`<h1>Notes</h1><p>There are ${notes.length} notes.<p>${link}`))
})

// What is saved in another tab comes at once. When the session has ended, the page leads to the login page.
const LIVE = raw(`<script>
  const live = new WebSocket(location.origin.replace('http', 'ws') + '/live')
  live.onmessage = ({ data }) => document.querySelector('ul').appendChild(document.createElement('li')).append(data)
  live.onclose = ({ code }) => code === 4401 && location.reload()
</script>`)

app.get('/notes', requireUser(), (c) => {
  const user = c.get('user')
  const own = notes.filter(({ owner }) => owner === user.id)
  return c.html(
    page(html`<h1>Notes of ${user.username}</h1><ul>${own.map(({ text }) => html`<li>${text}`)}</ul>
<form method="post"><input name="text" aria-label="Note" required><button>Save</button></form>
<p><a href="/auth/logout">Log out</a>${LIVE}`),
  )
})

app.post('/notes', requireUser(), async (c) => {
  const { text } = await c.req.parseBody()
  const note = { owner: c.get('user').id, text: typeof text === 'string' ? text : '' }
  notes.push(note)
  for (const [socket, owner] of live) if (owner === note.owner) socket.send(note.text)
  return c.redirect('/notes', 303)
})

const watch = (socket, { id, sid }) => {
  live.set(socket, id)
  auth.closeOnSessionEnd(socket, { sid, sub: id })
}

app.get(
  '/live',
  requireUser(),
  upgradeWebSocket((c) => ({
    onOpen: (_, socket) => watch(socket, c.get('user')),
    onClose: (_, socket) => live.delete(socket),
  })),
)

app.post('/webhooks', async (c) => {
  const event = await verifyWebhook(await c.req.arrayBuffer(), c.req.raw.headers, process.env.SVC_WEBHOOK_SECRET)
  if (event.type === 'user.deleted') notes = notes.filter(({ owner }) => owner !== event.data.user_id)
  return c.body(null, 204)
})

app.onError((error, c) => {
  if (error instanceof WebhookVerificationError) return c.body(null, 401)
  throw error
})

const websocket = { server: new WebSocketServer({ noServer: true, maxPayload: 1024 }) }
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1', websocket })
