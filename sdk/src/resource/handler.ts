import { toResponse } from '../guard/refusal-response.ts'
import type { HeaderRecord, RequestLike } from '../request/source.ts'

/** What is sent in place of the application's answer. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

/** A request of Express, of Fastify, or of Node alone. */
interface NodeRequest {
  headers: HeaderRecord
  method?: string | undefined
  url?: string | undefined
  originalUrl?: string | undefined
}

interface ExpressResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body: string): unknown
}

interface FastifyReply {
  code(status: number): unknown
  headers(headers: Record<string, string>): unknown
  send(body: string): unknown
}

interface HonoContext {
  req: { raw: Request }
}

type ExpressNext = (error?: unknown) => void

/**
 * One function for each framework. It answers a request, or lets it through: for a `Request` it resolves to undefined
 * then.
 */
export interface Handler {
  (request: Request): Promise<Response | undefined>
  (request: NodeRequest, response: ExpressResponse, next: ExpressNext): Promise<void>
  (request: NodeRequest, reply: FastifyReply): Promise<unknown>
  (context: HonoContext, next: () => Promise<void>): Promise<Response | void>
}

/** Decides about a request. `holder` is the object that the application has of it. */
type Decide = (source: RequestLike, holder: object) => Promise<Answer | undefined>

const inExpress = async (decide: Decide, request: NodeRequest, response: ExpressResponse, next: ExpressNext) => {
  try {
    const answer = await decide(request, request)
    if (answer) {
      response.writeHead(answer.status, answer.headers)
      response.end(answer.body)
      return
    }
  } catch (error) {
    next(error)
    return
  }
  // Not inside the `try`: what the application throws is not an error of this handler.
  next()
}

const inFastify = async (decide: Decide, request: NodeRequest, reply: FastifyReply): Promise<unknown> => {
  const answer = await decide(request, request)
  if (!answer) return undefined
  reply.code(answer.status)
  reply.headers(answer.headers)
  return reply.send(answer.body)
}

const inHono = async (decide: Decide, context: HonoContext, next: () => Promise<void>): Promise<Response | void> => {
  const answer = await decide(context.req.raw, context)
  return answer ? toResponse(answer) : next()
}

const forRequest = async (decide: Decide, request: Request): Promise<Response | undefined> => {
  const answer = await decide(request, request)
  return answer && toResponse(answer)
}

type Arguments = [first: NodeRequest | Request | HonoContext, second?: object, third?: ExpressNext]

/** Tells the frameworks apart by what they hand over. Fastify hands over a third argument, too, which is not called. */
export const createHandler = (decide: Decide): Handler => {
  const handle = async (...[first, second, third]: Arguments): Promise<unknown> => {
    if (second !== undefined && 'code' in second) return inFastify(decide, first as NodeRequest, second as FastifyReply)
    if (typeof third === 'function') return inExpress(decide, first as NodeRequest, second as ExpressResponse, third)
    if (typeof second === 'function') return inHono(decide, first as HonoContext, second as () => Promise<void>)
    return forRequest(decide, first as Request)
  }
  return handle as Handler
}
