import type { TestContext } from 'node:test'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import {
  authorizationServer,
  protectedResource,
  type ResourceOptions,
  requireToken,
  tokenOf,
} from '../../../sdk/src/resource.ts'
import { startServer } from '../network/http-server.ts'

/** The resource below `/mcp`, and a part of it for which a token needs more scopes. */
type Options = ResourceOptions & { more: string[] }

type Start = (t: TestContext, options: Options) => Promise<string>

const startExpress: Start = (t, { more, ...options }) => {
  const app = express()
  app.use(protectedResource(options), authorizationServer(options))
  const mcp = express.Router()
  mcp.use(requireToken(options))
  mcp.post('/echo', (request, response) => void request.pipe(response))
  mcp.get(
    '/more',
    requireToken({ ...options, scopes: more }),
    (request, response) => void response.json(tokenOf(request)),
  )
  mcp.get('/', (request, response) => void response.json(tokenOf(request)))
  // Inside, the address of a request begins after `/mcp`.
  app.use('/mcp', mcp)
  app.get('/open', (request, response) => void response.json(tokenOf(request)))
  app.use((error: Error, _: unknown, response: express.Response, next: unknown) => {
    response.status(500).json({ error: error.message, isNext: typeof next === 'function' })
  })
  return startServer(t, app)
}

const startFastify: Start = async (t, { more, ...options }) => {
  const app = fastify({ forceCloseConnections: true })
  app.addHook('onRequest', protectedResource(options))
  app.addHook('onRequest', authorizationServer(options))
  app.addContentTypeParser('*', (_, payload, done) => done(null, payload))
  app.get('/open', async (request) => tokenOf(request))
  await app.register(
    async (mcp) => {
      mcp.addHook('onRequest', requireToken(options))
      mcp.post('/echo', async ({ body }) => body)
      mcp.get('/more', { onRequest: requireToken({ ...options, scopes: more }) }, async (request) => tokenOf(request))
      mcp.get('/', async (request) => tokenOf(request))
    },
    { prefix: '/mcp' },
  )
  app.setErrorHandler((error: Error, _, reply) => reply.code(500).send({ error: error.message }))
  t.after(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

const startHono: Start = (t, { more, ...options }) => {
  const app = new Hono()
  app.use(protectedResource(options), authorizationServer(options))
  app.use('/mcp/*', requireToken(options))
  app.post('/mcp/echo', (c) => new Response(c.req.raw.body))
  app.get('/mcp/more', requireToken({ ...options, scopes: more }), (c) => c.json(tokenOf(c)))
  app.get('/mcp', (c) => c.json(tokenOf(c)))
  app.get('/open', (c) => c.json(tokenOf(c)))
  app.onError((error, c) => c.json({ error: error.message }, 500))
  return startServer(t, getRequestListener(app.fetch))
}

/** Nothing but `Request` and `Response`. */
const startWeb: Start = (t, { more, ...options }) => {
  const documents = [protectedResource(options), authorizationServer(options)]
  const [admit, admitMore] = [requireToken(options), requireToken({ ...options, scopes: more })]
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    for (const document of documents) {
      const found = await document(request)
      if (found) return found
    }
    if (pathname.startsWith('/mcp')) {
      const refused = (await admit(request)) ?? (pathname === '/mcp/more' && (await admitMore(request)))
      if (refused) return refused
    }
    if (pathname === '/mcp/echo') return new Response(request.body)
    return /^\/(mcp(\/more)?|open)$/.test(pathname)
      ? Response.json(tokenOf(request))
      : new Response(null, { status: 404 })
  }
  const listener = getRequestListener((request) =>
    answer(request).catch((error: Error) => Response.json({ error: error.message }, { status: 500 })),
  )
  return startServer(t, listener)
}

/** A resource server in each framework, with the same routes; each resolves to its address. */
export const RESOURCE_SERVERS: Record<string, Start> = {
  Express: startExpress,
  Fastify: startFastify,
  Hono: startHono,
  'Web requests': startWeb,
}
