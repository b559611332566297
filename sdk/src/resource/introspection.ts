import { noStore } from '../auth/no-store.ts'
import type { Subject } from '../revocations/memory.ts'
import type { FeedSource } from '../revocations/question.ts'
import { readRetryAfter, SvcUnavailableError } from '../svc-unavailable-error.ts'

const PATH = '/auth/oauth2/introspect'

interface Introspection extends Partial<Subject> {
  active?: unknown
  /** Only where the token has the scope `roles`. */
  roles?: string[]
}

const parse = (text: string): Introspection => {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

const send = async ({ requireUrl, requireKey, timeoutMs }: FeedSource, token: string) => {
  const url = new URL(PATH, requireUrl())
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${requireKey()}`, accept: 'application/json' },
      body: new URLSearchParams({ token }),
      // The key goes to svc and to nobody else.
      redirect: 'manual',
      ...noStore(),
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() }
  } catch (cause) {
    throw new SvcUnavailableError(`${url} cannot be asked about a token`, { cause })
  }
}

/** Asks svc about the token of a client (RFC 7662); resolves to the claims that are true now, or to null. */
export const createIntrospection =
  (source: FeedSource) =>
  async (token: string, { sub, sid }: Subject): Promise<Pick<Introspection, 'roles'> | null> => {
    const { status, retryAfter, text } = await send(source, token)
    const about = parse(text)
    if (status === 200 && about.active === false) return null
    if (status === 200 && about.active === true && about.sub === sub && about.sid === sid)
      return about.roles ? { roles: about.roles } : {}
    const hint = status === 401 || status === 403 ? ': the key needs the scope tokens:introspect' : ''
    throw new SvcUnavailableError(`svc answered ${status} when it was asked about a token${hint}`, {
      retryAfter: readRetryAfter(retryAfter),
    })
  }
