import { AppError } from '../../../lib/errors.ts'
import { requiresReauthentication, statusOf, toErrorJson } from '../../errors.ts'
import type { RequestContext } from '../../request-context.ts'
import { confirmPathFor } from '../../step-up.ts'
import { type HttpResponse, json } from '../../response.ts'

/**
 * Answers a script. An error that the page can do something about says so in a header: `Location` is where the browser
 * is to go, `X-Svc-Passkey: unknown` that the browser can forget the passkey.
 */
export const answerScript = async (
  context: RequestContext,
  action: () => Promise<HttpResponse>,
): Promise<HttpResponse> => {
  try {
    return await action()
  } catch (error) {
    const headers = error instanceof AppError ? headersOf(error) : undefined
    if (!(error instanceof AppError) || !headers) throw error
    return { ...json(statusOf(error.code), toErrorJson(error, context.requestId)), headers, refused: error }
  }
}

const headersOf = (error: AppError): string[] | undefined => {
  if (requiresReauthentication(error)) return ['location', confirmPathFor(error)]
  return error.reason === 'passkey_unknown' ? ['x-svc-passkey', 'unknown'] : undefined
}
