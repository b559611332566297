import { loginAudience } from '../../lib/audience.ts'
import { createSessionScript } from './session-source.ts'
import type { Services } from '../../http/services.ts'
import { etagOf } from '../../http/negotiation.ts'
import type { HttpResponse } from '../../http/response.ts'

const FIVE_MINUTES_SECONDS = 300

/** Handles `GET /auth/session.js` (CONTRACT.md 4.14): it is the same for everybody. */
export const createGetSessionScript = ({
  audiences,
  cookieTable,
}: Pick<Services, 'audiences' | 'cookieTable'>): (() => HttpResponse) => {
  const { session, fresh, csrf } = cookieTable
  const body = createSessionScript({
    audience: loginAudience(audiences),
    session: session.name,
    fresh: fresh.name,
    csrf: csrf.name,
  })
  const script = {
    status: 200,
    contentType: 'text/javascript; charset=utf-8',
    body,
    cacheSeconds: FIVE_MINUTES_SECONDS,
    etag: etagOf(body),
  }
  return () => script
}
