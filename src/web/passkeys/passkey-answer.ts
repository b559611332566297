import { AppError } from '../../lib/errors.ts'
import { type Passkey, UnknownPasskeyError } from '../../passkeys/passkeys.ts'
import { DeadLinkError } from '../../links/link.ts'
import { needsProof, statusOf, toErrorJson } from '../../http/errors.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { proofPathFor } from '../../http/step-up.ts'
import { type HttpResponse, json } from '../../http/response.ts'

/**
 * Answers a script. A header tells about an error that the page can do something about: `Location` is the page that the
 * browser opens next; `X-Svc-Passkey: unknown` says that the browser can forget the passkey, whose account is one of
 * this installation.
 */
export const answerScript = async (
  context: RequestContext,
  action: () => Promise<HttpResponse>,
): Promise<HttpResponse> => {
  try {
    return await action()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const headers = headersOf(error)
    // The responder shows a page for such a link; a script cannot use that page.
    if (!headers && !(error instanceof DeadLinkError)) throw error
    return {
      ...json(statusOf(error.code), toErrorJson(error, context.requestId)),
      headers: headers ?? [],
      refused: error,
    }
  }
}

const headersOf = (error: AppError): string[] | undefined => {
  if (needsProof(error)) return ['location', proofPathFor(error)]
  return error instanceof UnknownPasskeyError && error.isGone ? ['x-svc-passkey', 'unknown'] : undefined
}

/** The script then sends the browser to `path`. */
export const added = ({ id, name }: Passkey, path: string): HttpResponse => ({
  ...json(201, JSON.stringify({ id, name })),
  headers: ['location', path],
})
