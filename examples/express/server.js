// Notes: a page for all, a protected page with a form, and webhooks. svc signs the users in.
import { loadUser, requireUser } from '@svc/sdk/express'
import { verifyWebhook, WebhookVerificationError } from '@svc/sdk/webhooks'
import express from 'express'
import { homePage, notesPage } from './pages.js'

const app = express()
let notes = [] // an application has a database here

app.use((request, response, next) => {
  // A sibling host (evil.example.com beside example.com) could send forms with the user's cookies.
  const site = request.get('sec-fetch-site') ?? 'same-origin'
  return request.method === 'POST' && site !== 'same-origin' ? response.sendStatus(403) : next()
})

app.get('/', loadUser(), (request, response) => {
  response.send(homePage(request.user, notes.length))
})

app.get('/notes', requireUser(), (request, response) => {
  response.send(notesPage(request.user, notes))
})

app.post('/notes', requireUser(), express.urlencoded({ limit: '64kb' }), (request, response) => {
  notes.push({ owner: request.user.id, text: String(request.body?.text) })
  response.redirect(303, '/notes')
})

app.post('/webhooks', express.raw({ type: '*/*', limit: '64kb' }), async (request, response) => {
  const event = await verifyWebhook(request.body ?? '', request.headers, process.env.SVC_WEBHOOK_SECRET)
  if (event.type === 'user.deleted') notes = notes.filter(({ owner }) => owner !== event.data.user_id)
  response.sendStatus(204)
})

app.use((error, _request, response, next) => {
  if (error instanceof WebhookVerificationError) return response.sendStatus(401)
  return next(error)
})

app.listen(process.env.PORT ?? 3000, '127.0.0.1')
