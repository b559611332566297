import { AUDIT_TYPES, type AuditType } from '../../audit/audit-event.ts'
import { toAuditJson } from '../../audit/audit-row.ts'
import type { AuditPageRequest } from '../../audit/audit.ts'
import { readTimestamp } from '../../lib/time.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import type { Fields } from '../../http/body/form.ts'
import { failure } from '../schemas.ts'
import { createQueryReader, limitParameter, parameter, readLimit, TIME_EXPECTED } from './list-query.ts'
import { refToV2 } from './schemas.ts'

/** Answers `GET /auth/api/v2/audit` (CONTRACT.md 10.6). */
export const createListAudit = ({ audit }: Pick<Services, 'audit'>) => ({
  documentation: {
    operationId: 'listAuditEvents',
    summary: 'What happened, and who did it, the newest first',
    tag: 'Audit',
    parameters: [
      parameter('since', 'Only what happened at this time or later', { type: 'string', format: 'date-time' }),
      parameter('type', 'Only events of this type', { type: 'string', enum: AUDIT_TYPES }),
      parameter('user_id', 'Only what happened to this user, who may be deleted', { type: 'string', format: 'uuid' }),
      limitParameter('events'),
      parameter('cursor', '`next_cursor` of the page before, with the same other parameters'),
    ],
    responses: {
      200: { description: 'A page; the last one has no cursor', schema: refToV2('AuditEventList') },
      400: failure('`invalid_request`: a parameter is not accepted'),
    },
  } satisfies Documentation,

  async handle({ query }: RequestContext): Promise<HttpResponse> {
    const { events, nextCursor = null } = await audit.list(readQuery(query))
    return json(200, JSON.stringify({ events: events.map(toAuditJson), next_cursor: nextCursor }))
  },
})

const readQuery = (query: Fields): AuditPageRequest => {
  const read = createQueryReader(query)
  return {
    sinceMs: read('since', readTimestamp, TIME_EXPECTED),
    type: read('type', readType, `one of ${AUDIT_TYPES.join(', ')}`),
    userId: read('user_id', readId, 'the id of a user, a UUID'),
    limit: readLimit(query),
    cursor: query.get('cursor'),
  }
}

const readType = (text: string): AuditType | undefined => AUDIT_TYPES.find((type) => type === text)

const readId = (text: string): string | undefined => {
  const id = text.toLowerCase()
  return isUuid(id) ? id : undefined
}
