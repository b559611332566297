// Notes: a page for all, a protected page with a form, and webhooks. svc signs the users in.
import { createServer } from 'node:http'
import { createAuth, SvcUnavailableError } from '@svc/sdk/server'
import { verifyWebhook, WebhookVerificationError } from '@svc/sdk/webhooks'
import { homePage, notesPage } from './pages.js'

const auth = createAuth()
let notes = [] // an application has a database here

const readBody = async (request) => {
  const chunks = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > 65_536) throw Object.assign(new Error('The body is too large.'), { status: 413 })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Passes the signed-in user on. Sends a page to the login page and back; refuses everything else with 401. */
const withUser = (handle) => async (request, response) => {
  const user = await auth.getUser(request)
  if (user) return handle(request, response, user)
  if (request.method === 'GET') return response.writeHead(303, { location: auth.loginUrl(request) }).end()
  return response.writeHead(401).end('You are logged out. Log in, then send the form again.')
}

const show = (response, page) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)

const routes = {
  'GET /': async (request, response) => show(response, homePage(await auth.getUser(request), notes.length)),
  'GET /notes': withUser((_, response, user) => show(response, notesPage(user, notes))),
  'POST /notes': withUser(async (request, response, user) => {
    const form = new URLSearchParams((await readBody(request)).toString())
    notes.push({ owner: user.id, text: form.get('text') ?? '' })
    response.writeHead(303, { location: '/notes' }).end()
  }),
  'POST /webhooks': async (request, response) => {
    const event = await verifyWebhook(await readBody(request), request.headers, process.env.SVC_WEBHOOK_SECRET)
    if (event.type === 'user.deleted') notes = notes.filter(({ owner }) => owner !== event.data.user_id)
    response.writeHead(204).end()
  },
}

const answer = async (request, response) => {
  // A sibling host (evil.example.com beside example.com) could send forms with the user's cookies.
  const site = request.headers['sec-fetch-site'] ?? 'same-origin'
  const handle = routes[`${request.method} ${request.url.split('?')[0]}`]
  if (!handle) response.writeHead(404).end()
  else if (request.method === 'POST' && site !== 'same-origin') response.writeHead(403).end()
  else await handle(request, response)
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    // An outage of svc is a 503: nobody is logged out by it.
    if (error instanceof SvcUnavailableError) response.writeHead(503, { 'retry-after': error.retryAfter })
    else response.writeHead(error instanceof WebhookVerificationError ? 401 : (error.status ?? 500))
    response.end('Try again soon.')
  })
}).listen(process.env.PORT ?? 3000, '127.0.0.1')
