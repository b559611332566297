import { AppError } from '../../lib/errors.ts'
import { type Passkey, UnknownPasskeyError } from '../../passkeys/passkeys.ts'
import { DeadLinkError } from '../../links/link.ts'
import { needsProof, statusOf, toErrorJson } from '../../http/errors.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { proofPathFor } from '../../http/step-up.ts'
import { type HttpResponse, json } from '../../http/response.ts'

/**
 * Answers a script. An error that the page can do something about says so in a header: `Location` is where the browser
 * is to go, `X-Svc-Passkey: unknown` that the browser can forget the passkey, whose account is one of this installation.
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
    // The page that the responder has for a link is none for a script.
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

/** `path`: where the script sends the browser then. */
export const added = ({ id, name }: Passkey, path: string): HttpResponse => ({
  ...json(201, JSON.stringify({ id, name })),
  headers: ['location', path],
})
