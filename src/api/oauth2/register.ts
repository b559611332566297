import type { Clients } from '../../clients/clients.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json } from '../../http/response.ts'

/** Answers `POST /auth/oauth2/register` (RFC 7591 section 3). */
export const createRegister = ({ registry }: Pick<Clients, 'registry'>) => ({
  async handle(context: RequestContext): Promise<HttpResponse> {
    return json(201, JSON.stringify(await registry.register(context.json, context)))
  },
})
