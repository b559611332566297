import type { IncomingMessage } from 'node:http'
import { AppError } from '../../lib/errors.ts'

const MAX_BODY_BYTES = 16 * 1024

/**
 * Reads the body of a request, of at most 16 KiB. Rejects with `payload_too_large`, and with `invalid_request` when
 * the client closes the connection before the end.
 */
export const readBody = (request: IncomingMessage): Promise<Buffer> => {
  // Node reads and drops what is left of a refused body, so that the connection can be used again.
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return Promise.reject(tooLarge())
  // Node says so at once where the headers announce no body (`optimizeEmptyRequests`): no event follows.
  if (request.readableEnded) return Promise.resolve(Buffer.alloc(0))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const keep = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
      else {
        request.off('data', keep)
        request.resume()
        reject(tooLarge())
      }
    }
    request
      .on('data', keep)
      .once('end', () => resolve(Buffer.concat(chunks)))
      .once('error', (cause) => reject(new AppError('invalid_request', 'The request cannot be read.', { cause })))
  })
}

const tooLarge = (): AppError => new AppError('payload_too_large', 'The body is larger than 16 KiB.')
