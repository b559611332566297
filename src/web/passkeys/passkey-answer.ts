import { AppError } from '../../lib/errors.ts'
import { type Passkey, UnknownPasskeyError } from '../../passkeys/passkeys.ts'
import { DeadLinkError } from '../../links/link.ts'
import { needsProof, statusOf, toErrorJson } from '../../http/errors.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { proofPathFor } from '../../http/step-up.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import { isRefusal } from '../site/passkey-texts.ts'

/**
 * Answers a script. Headers tell about an error that the page can do something about: `Location` is the page that the
 * browser opens next; `X-Svc-Reason` names the text that the script shows; `X-Svc-Passkey: unknown` says that the
 * browser can forget the passkey, whose account is one of this installation.
 */
export const answerScript = async (
  context: RequestContext,
  action: () => Promise<HttpResponse>,
): Promise<HttpResponse> => {
  try {
    return await action()
  } catch (error) {
    const headers = error instanceof AppError ? headersOf(error) : []
    // The responder shows a page for a dead link; a script cannot use that page.
    const isForScript = headers.length > 0 || error instanceof DeadLinkError
    if (!(error instanceof AppError) || !isForScript) throw error
    return { ...json(statusOf(error.code), toErrorJson(error, context.requestId)), headers, refused: error }
  }
}

const headersOf = (error: AppError): string[] => {
  if (needsProof(error)) return ['location', proofPathFor(error)]
  const reason = isRefusal(error.reason) ? ['x-svc-reason', error.reason] : []
  return error instanceof UnknownPasskeyError && error.isGone ? [...reason, 'x-svc-passkey', 'unknown'] : reason
}

/** The script then sends the browser to `path`. */
export const added = ({ id, name }: Passkey, path: string): HttpResponse => ({
  ...json(201, JSON.stringify({ id, name })),
  headers: ['location', path],
})
