import type { IncomingMessage } from 'node:http'
import { AppError } from '../../lib/errors.ts'

/**
 * Reads the body of a request, of at most `maxKiB`. Rejects with `payload_too_large`, and with `invalid_request` when
 * the client closes the connection before the end.
 */
export const readBody = (request: IncomingMessage, maxKiB: number): Promise<Buffer> => {
  const maxBytes = maxKiB * 1024
  // Node reads and drops the rest of a refused body, so that the connection can be used again.
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge(maxKiB))
  // Node says so at once where the headers announce no body (`optimizeEmptyRequests`): no event follows.
  if (request.readableEnded) return Promise.resolve(Buffer.alloc(0))
  // The client has gone while the request waited: nothing more happens to it.
  if (request.destroyed) return Promise.reject(unreadable())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const keep = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes <= maxBytes) chunks.push(chunk)
      else {
        request.off('data', keep)
        request.resume()
        reject(tooLarge(maxKiB))
      }
    }
    request
      .on('data', keep)
      .once('end', () => resolve(Buffer.concat(chunks)))
      .once('error', (cause) => reject(unreadable(cause)))
  })
}

const tooLarge = (maxKiB: number): AppError =>
  new AppError('payload_too_large', `The body is larger than ${maxKiB} KiB.`)

const unreadable = (cause?: unknown): AppError =>
  new AppError('invalid_request', 'The request cannot be read.', { cause })
