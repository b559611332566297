import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import * as forExpress from '../../../sdk/src/express.ts'
import * as forFastify from '../../../sdk/src/fastify.ts'
import * as forHono from '../../../sdk/src/hono.ts'
import { createAuth, SvcUnavailableError } from '../../../sdk/src/server.ts'
import { startServer } from '../network/http-server.ts'

/** How many lines `/members/lines` sends, one after the other. */
export const LINES = 20

async function* lines(): AsyncGenerator<string> {
  for (let line = 0; line < LINES; line++) {
    await new Promise((resolve) => setImmediate(resolve))
    yield `line ${line}\n`
  }
}

type Options = { url: string; onUnavailable?: (error: SvcUnavailableError) => void }

type Start = (t: TestContext, options: Options) => Promise<string>

const startExpress: Start = (t, options) => {
  const app = express()
  const members = express.Router()
  app.use('/public', forExpress.loadUser(options))
  app.get('/public', (request, response) => void response.json({ id: request.user?.id ?? null }))
  members.use(forExpress.requireUser(options))
  members.get('/me', (request, response) => void response.json({ id: request.user?.id }))
  members.post('/echo', (request, response) => void request.pipe(response))
  members.get('/lines', async (_, response) => {
    for await (const line of lines()) response.write(line)
    response.end()
  })
  // Inside, the address of a request begins after `/members`.
  app.use('/members', members)
  return startServer(t, app)
}

const startFastify: Start = async (t, options) => {
  const app = fastify({ forceCloseConnections: true })
  app.get('/public', { onRequest: forFastify.loadUser(options) }, async ({ user }) => ({ id: user?.id ?? null }))
  await app.register(
    async (members) => {
      members.addHook('onRequest', forFastify.requireUser(options))
      members.addContentTypeParser('*', (_, payload, done) => done(null, payload))
      members.get('/me', async ({ user }) => ({ id: user?.id }))
      members.post('/echo', async ({ body }) => body)
      members.get('/lines', async () => new Response(ReadableStream.from(lines()).pipeThrough(new TextEncoderStream())))
    },
    { prefix: '/members' },
  )
  t.after(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

const startHono: Start = (t, options) => {
  const app = new Hono()
  app.get('/public', forHono.loadUser(options), (c) => c.json({ id: c.get('user')?.id ?? null }))
  const members = new Hono()
    .use(forHono.requireUser(options))
    .get('/me', (c) => c.json({ id: c.get('user').id }))
    .post('/echo', (c) => new Response(c.req.raw.body))
    .get('/lines', (c) => c.body(ReadableStream.from(lines()).pipeThrough(new TextEncoderStream())))
  app.route('/members', members)
  return startServer(t, getRequestListener(app.fetch))
}

/** Plain Node, with the same answers by hand. */
const startNode: Start = (t, options) => {
  const auth = createAuth(options)
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const user = await auth.getUser(request)
    if (request.url === '/public') return response.end(JSON.stringify({ id: user?.id ?? null }))
    if (!user) {
      const isPage = request.headers['sec-fetch-mode'] === 'navigate' && request.method === 'GET'
      return response.writeHead(isPage ? 303 : 401, { location: auth.loginUrl(request) }).end('{"error":{}}')
    }
    if (request.url === '/members/echo') return request.pipe(response)
    if (request.url !== '/members/lines') return response.end(JSON.stringify({ id: user.id }))
    for await (const line of lines()) response.write(line)
    return response.end()
  }
  return startServer(t, async (request, response) => {
    try {
      await answer(request, response)
    } catch (error) {
      if (!(error instanceof SvcUnavailableError)) throw error
      response.writeHead(503, { 'retry-after': String(error.retryAfter) }).end('{"error":{}}')
    }
  })
}

/** An application in each framework, with the same routes; each resolves to its address. */
export const FRAMEWORKS: Record<string, Start> = {
  Express: startExpress,
  Fastify: startFastify,
  Hono: startHono,
  'plain Node': startNode,
}
