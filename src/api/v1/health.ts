import type { RouteDeps } from '../../http/deps.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure, refTo } from '../schemas.ts'

/** `GET /auth/health` */
export const getHealth = {
  documentation: {
    operationId: 'getHealth',
    summary: 'Whether the process is up',
    tag: 'Operation',
    responses: { 200: { description: 'The process is up', schema: refTo('Status') } },
  } satisfies Documentation,

  handle: (): HttpResponse => json(200, '{"status":"ok"}'),
}

/** `GET /auth/ready`; `unavailable` while the database is away or the service stops. */
export const createGetReadiness = ({ requireReady }: RouteDeps) => ({
  documentation: {
    operationId: 'getReadiness',
    summary: 'Whether the service can do its work',
    tag: 'Operation',
    responses: {
      200: { description: 'The service is ready', schema: refTo('Status') },
      503: failure('`unavailable`, and what is down', 'Retry-After'),
    },
  } satisfies Documentation,

  async handle(): Promise<HttpResponse> {
    await requireReady()
    return json(200, '{"status":"ready"}')
  },
})
