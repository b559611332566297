import { readFileSync } from 'node:fs'
import { createCookieReader } from '../http/cookie-reader.ts'
import { createCookieTable } from '../http/cookies.ts'
import { type ContentResponse, noContent, page, redirect } from '../http/response.ts'
import { AppError } from '../lib/errors.ts'
import type { DevEvents } from './events.ts'
import { type DevRequest, jsonOf } from './exchange.ts'
import type { DevMailbox, ReceivedMessage } from './mailbox.ts'
import type { MovableClock } from './movable-clock.ts'
import { DEV_SCRIPT, DEV_STYLE } from './pages/dev-page.ts'
import { homePage } from './pages/home-page.ts'
import { mailListPage, mailPage, MESSAGE_HEADERS, messageDocument } from './pages/mail-pages.ts'
import { providerPage } from './pages/provider-page.ts'
import { webhooksPage } from './pages/webhooks-page.ts'
import { type DevProvider, PROVIDER_PATH } from './provider.ts'
import type { DevRoute } from './router.ts'
import type { DevService } from './running-service.ts'
import { createApiKey, moveClock, signIn } from './test-requests.ts'
import { toShownWebhook, type WebhookReceiver } from './webhook-receiver.ts'

export interface DevRoutesDeps {
  baseUrl: string
  app: string | undefined
  passOnTo: string | undefined
  apiKey: string
  webhookSecret: string
  clock: MovableClock
  mailbox: DevMailbox
  receiver: WebhookReceiver
  provider: DevProvider
  events: DevEvents
  service: () => Promise<DevService>
  reset: () => Promise<void>
}

/** This is the table of routes of `svc dev`. */
export const createDevRoutes = (deps: DevRoutesDeps): DevRoute[] => {
  const { clock, mailbox, receiver, provider, service, reset, passOnTo } = deps
  const layout = async () => (await service()).layout

  const requireMessage = ({ parameters: { id = '' } }: DevRequest): ReceivedMessage =>
    mailbox.messages.find(id) ?? notFound(`There is no message ${id}.`)

  const send = async ({ parameters: { id = '' } }: DevRequest) => {
    const { event } = receiver.webhooks.find(id) ?? notFound(`There is no delivery ${id}.`)
    await (await service()).core.webhooks.redeliver(event.id)
    return noContent
  }

  // biome-ignore format: a table is read by its columns
  return [
    { method: 'GET',  path: '/auth/dev',                    handle: async (request) => page(200, homePage(await layout(), await homeView(deps, request))) },
    { method: 'GET',  path: '/auth/dev/mail',               handle: async () => page(200, mailListPage(await layout(), mailbox.messages.all())) },
    { method: 'GET',  path: '/auth/dev/mail.json',          handle: () => jsonOf({ messages: mailbox.messages.all().map(toJson) }) },
    { method: 'GET',  path: '/auth/dev/mail/{id}',          handle: async (request) => page(200, mailPage(await layout(), requireMessage(request))) },
    { method: 'GET',  path: '/auth/dev/mail/{id}/html',     handle: (request) => ({ ...page(200, messageDocument(requireMessage(request))), headers: MESSAGE_HEADERS }) },
    { method: 'GET',  path: '/auth/dev/webhooks',           handle: async () => page(200, webhooksPage(await layout(), receiver.webhooks.all(), passOnTo)) },
    { method: 'GET',  path: '/auth/dev/webhooks.json',      handle: () => jsonOf({ webhooks: receiver.webhooks.all().map(toShownWebhook) }) },
    { method: 'POST', path: '/auth/dev/webhooks',           handle: async ({ headers, body }) => ({ ...noContent, status: await receiver.receive(headers, body.toString()) }) },
    { method: 'POST', path: '/auth/dev/webhooks/{id}/send', handle: send },
    { method: 'GET',  path: PROVIDER_PATH,                  handle: async ({ query }) => authorize(query, provider, await service()) },
    // Programs send these.
    { method: 'POST', path: '/auth/dev/sign-in',            handle: async (request) => signIn(await service(), request) },
    { method: 'POST', path: '/auth/dev/reset',              handle: async () => reset().then(() => noContent) },
    { method: 'POST', path: '/auth/dev/clock',              handle: (request) => moveClock(clock, request) },
    { method: 'POST', path: '/auth/dev/api-keys',           handle: async (request) => createApiKey((await service()).core, request) },
    // The pages have these.
    { method: 'GET',  path: '/auth/dev/events',             handle: () => ({ status: 200, contentType: 'text/event-stream', parts: eventStream(deps) }) },
    { method: 'GET',  path: DEV_STYLE,                      handle: () => file('dev.css', 'text/css; charset=utf-8') },
    { method: 'GET',  path: DEV_SCRIPT,                     handle: () => file('dev.js', 'text/javascript; charset=utf-8') },
  ]
}

const notFound = (message: string): never => {
  throw new AppError('not_found', message)
}

const file = (name: string, contentType: string): ContentResponse => ({
  status: 200,
  contentType,
  body: readFileSync(new URL(name, import.meta.url), 'utf8'),
})

const toJson = ({ to, subject, text, html, links, codes }: ReceivedMessage) => ({
  to,
  subject,
  text,
  html,
  links,
  codes,
})

/** A link of the page has the choice in its address. */
const authorize = (query: URLSearchParams, provider: DevProvider, { layout }: DevService) => {
  if (query.has('email') || query.has('fail')) return redirect(provider.choose(query))
  provider.requireOwn(query)
  return page(200, providerPage(layout, query))
}

const homeView = async (deps: DevRoutesDeps, { headers }: DevRequest) => {
  const { core } = await deps.service()
  const cookieTable = createCookieTable({ baseUrl: deps.baseUrl, cookiePrefix: false })
  const { access } = createCookieReader({ cookieTable })(headers.cookie)
  const session = access && (await core.sessions.authenticate(access))
  return {
    ...deps,
    email: session ? session.email : undefined,
    roles: session ? session.roles : [],
    messages: deps.mailbox.messages.all().length,
    webhooks: deps.receiver.webhooks.all().length,
    nowMs: deps.clock.now(),
    isMoved: deps.clock.aheadMs() > 0,
  }
}

/**
 * Tells a page which message and which delivery were the last to arrive (HTML section 9.2, server-sent events): at once,
 * as it may have missed some while it was loaded.
 */
async function* eventStream({ events, mailbox, receiver }: DevRoutesDeps): AsyncGenerator<string> {
  const last = () =>
    `event: mail\ndata: ${mailbox.messages.lastId()}\n\nevent: webhook\ndata: ${receiver.webhooks.lastId()}\n\n`
  const arrivals = events.stream()
  yield last()
  for await (const { type } of arrivals) if (type !== 'request') yield last()
}
