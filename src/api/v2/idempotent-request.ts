import type { Answer, AuthenticatedKey, Claim, Idempotency, Keep, Kept } from '../../api-keys/api-keys.ts'
import { IDEMPOTENCY_FIELD } from '../../api-keys/api-key.ts'
import { AppError } from '../../lib/errors.ts'
import { statusOf, toErrorJson } from '../../http/errors.ts'
import { type ContentResponse, json } from '../../http/response.ts'
import type { IncomingRequest } from '../../http/transport/incoming-request.ts'

const ID = /^[\x21-\x7e]{1,255}$/

type Response = ContentResponse
type Handle = (keep: Keep<Response>) => Promise<Kept<Response>>

/**
 * Runs the handler of a `POST`, once for all requests with the same `Idempotency-Key`: the response to the first is
 * stored in the transaction of its effect, and repeated. If the header is missing, every request runs.
 */
export const createRunOnce =
  (idempotency: Idempotency) =>
  async (
    context: IncomingRequest,
    key: AuthenticatedKey,
    body: Uint8Array,
    handle: Handle,
  ): Promise<ContentResponse> => {
    const idempotencyKey = readIdempotencyKey(context.headers['idempotency-key'])
    if (idempotencyKey === undefined) return handle(async (_transaction, response) => asKept(response))
    const { method, target } = context
    const begun = await idempotency.begin({ apiKeyId: key.id, idempotencyKey, method, target, body })
    if ('answer' in begun) return repeat(begun.answer, context)
    try {
      return await handle(async (transaction, response) => {
        await begun.claim.keep(transaction, { status: response.status, content: response.body })
        return asKept(response)
      })
    } catch (error) {
      await settleFailure(begun.claim, error)
      throw error
    }
  }

/** This is the one place that marks a response as kept. */
const asKept = (response: Response): Kept<Response> => response as Kept<Response>

/** Node joins a repeated header with a comma and a space, which is no visible character. */
const readIdempotencyKey = (header: string | string[] | undefined): string | undefined => {
  if (header === undefined) return undefined
  if (typeof header === 'string' && ID.test(header)) return header
  throw new AppError(
    'invalid_request',
    `The header ${IDEMPOTENCY_FIELD} must be 1 to 255 visible ASCII characters, once.`,
    {
      field: IDEMPOTENCY_FIELD,
    },
  )
}

/** This part of an error is kept: the request id of its repetition is another one. */
type KeptError = Pick<AppError, 'message'> & { field?: string | undefined }

const CODES = { 409: 'conflict', 422: 'unprocessable' } as const

const isKept = (status: number): status is keyof typeof CODES => status in CODES

/**
 * A conflict or a bad value is repeated like a success. After any other failure the same request can be sent again. The
 * caller gets the failure itself, even where the database is away by now: then the claim ends by its time.
 */
const settleFailure = async (claim: Claim, error: unknown): Promise<void> => {
  const status = error instanceof AppError ? statusOf(error.code) : 500
  const kept: KeptError = error instanceof AppError ? { message: error.message, field: error.field } : { message: '' }
  const settled = isKept(status) ? claim.keepFailure({ status, content: JSON.stringify(kept) }) : claim.release()
  await settled.catch(() => {})
}

const REPLAYED = ['idempotency-replayed', 'true']

const repeat = ({ status, content }: Answer, { requestId }: IncomingRequest): ContentResponse => {
  if (!isKept(status)) return { ...json(status, content), headers: REPLAYED }
  const { message, field } = JSON.parse(content) as KeptError
  const refused = new AppError(CODES[status], message, field === undefined ? {} : { field })
  return { ...json(status, toErrorJson(refused, requestId)), headers: REPLAYED, refused }
}
