import { printOutage } from '../guard/outage.ts'
import { readRetryAfter, SvcUnavailableError } from '../svc-unavailable-error.ts'
import { type Answer, createHandler, type Handler } from './handler.ts'
import { refuseDuringOutage } from './refusal.ts'
import { answerAt } from './public-document.ts'
import { readSource, type SourceOptions, type SourceSettings } from './settings.ts'

/** Where clients look for the document of an issuer with the path `/auth` (RFC 8414 section 3.1). */
const ADDRESSES = ['/.well-known/oauth-authorization-server/auth', '/.well-known/openid-configuration/auth']

/** All that a document needs: what else svc sends is for its own address. */
const PASSED_ON = ['content-type', 'cache-control']

const fetchDocument = async ({ requireUrl, timeoutMs }: SourceSettings): Promise<Answer> => {
  const url = new URL('/auth/.well-known/openid-configuration', requireUrl())
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { status, headers } = response
    if (status !== 200 && status !== 404)
      throw new SvcUnavailableError(`${url} answered ${status}`, {
        retryAfter: readRetryAfter(headers.get('retry-after')),
      })
    const kept = PASSED_ON.flatMap((name) => [[name, headers.get(name) ?? '']]).filter(([, value]) => value !== '')
    return { status, headers: Object.fromEntries(kept), body: await response.text() }
  } catch (cause) {
    if (cause instanceof SvcUnavailableError) throw cause
    throw new SvcUnavailableError(`${url} cannot be read`, { cause })
  }
}

/**
 * Passes the discovery document of svc on at the two addresses below `/.well-known/` of the site that clients ask first, for
 * sites whose proxy does not send them to svc. It lets all other requests through. Throws a `TypeError` for a setting that
 * is wrong.
 */
export const authorizationServer = (options: SourceOptions = {}): Handler => {
  const { onUnavailable = printOutage } = options
  const settings = readSource(options)
  const write = async (): Promise<Answer> => {
    try {
      return await fetchDocument(settings)
    } catch (error) {
      if (!(error instanceof SvcUnavailableError)) throw error
      onUnavailable(error)
      return refuseDuringOutage(error)
    }
  }
  return createHandler(answerAt((target) => ADDRESSES.includes(target.replace(/\?.*/, '')), write))
}
