// Notes: a page for all, a protected page with a form and a WebSocket, and webhooks. svc signs the users in.
import formbody from '@fastify/formbody'
import websocket from '@fastify/websocket'
import { loadUser, requireUser } from '@svc/sdk/fastify'
import { createAuth } from '@svc/sdk/server'
import { verifyWebhook, WebhookVerificationError } from '@svc/sdk/webhooks'
import Fastify from 'fastify'
import { homePage, notesPage } from './pages.js'

const app = Fastify({ bodyLimit: 65_536 })
const auth = createAuth({ revocations: {} })
const live = new Map() // by WebSocket, the user
let notes = [] // an application has a database here

app.register(formbody)
await app.register(websocket, { options: { maxPayload: 1024 } })

app.addHook('onRequest', async ({ method, headers, ws }, reply) => {
  // A sibling host (evil.example.com beside example.com) could send forms, and open a WebSocket, with the user's cookies.
  const site = headers['sec-fetch-site'] ?? 'same-origin'
  const isOwn = ws ? headers.origin?.endsWith(`//${headers.host}`) : method !== 'POST' || site === 'same-origin'
  if (!isOwn) await reply.code(403).send()
})

app.get('/', { onRequest: loadUser() }, async (request, reply) =>
  reply.type('text/html').send(homePage(request.user, notes.length)),
)

app.get('/notes', { onRequest: requireUser() }, async (request, reply) =>
  reply.type('text/html').send(notesPage(request.user, notes)),
)

app.post('/notes', { onRequest: requireUser() }, async (request, reply) => {
  const text = String(request.body?.text)
  notes.push({ owner: request.user.id, text })
  for (const [socket, owner] of live) if (owner === request.user.id) socket.send(text)
  return reply.redirect('/notes', 303)
})

app.get('/live', { websocket: true, onRequest: requireUser() }, (socket, { user }) => {
  live.set(socket, user.id)
  socket.on('close', () => live.delete(socket))
  auth.closeOnSessionEnd(socket, { sid: user.sid, sub: user.id })
})

app.register(async (scope) => {
  // The signature is over the bytes as they came.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request, body) => body)
  scope.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof WebhookVerificationError ? 401 : (error.statusCode ?? 500)).send(),
  )
  scope.post('/webhooks', async (request, reply) => {
    const event = await verifyWebhook(request.body ?? '', request.headers, process.env.SVC_WEBHOOK_SECRET)
    if (event.type === 'user.deleted') notes = notes.filter(({ owner }) => owner !== event.data.user_id)
    return reply.code(204).send()
  })
})

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
