import type { components, operations } from './api-types.ts'
import type { Caller } from './call.ts'

/** What happened, and who did it. */
export type AuditEvent = components['schemas']['AuditEvent']
export type AuditEventPage = components['schemas']['AuditEventList']
export type AuditFilter = NonNullable<operations['listAuditEvents']['parameters']['query']>

export interface AuditApi {
  /** One page of events, the newest first; `next_cursor` is null on the last one. */
  list(filter?: AuditFilter): Promise<AuditEventPage>
  /** All events of all pages, one after the other. */
  all(filter?: Omit<AuditFilter, 'cursor'>): AsyncIterableIterator<AuditEvent>
}

export const createAudit = (call: Caller): AuditApi => {
  const list: AuditApi['list'] = (filter = {}) => call({ method: 'GET', path: ['audit'], query: filter })
  return {
    list,
    async *all(filter = {}) {
      let cursor: string | null = null
      do {
        const page: AuditEventPage = await list({ ...filter, ...(cursor !== null && { cursor }) })
        yield* page.events
        cursor = page.next_cursor
      } while (cursor !== null)
    },
  }
}
