import { connect as connectSocket } from 'node:net'

/** One response. `head` is everything up to the blank line; `body` is valid only until the callback returns. */
export interface RawResponse {
  status: number
  head: string
  body: Buffer
}

export interface Connection {
  send(request: string | Buffer): void
  close(): void
}

interface ConnectionOptions {
  port: number
  onResponse: (response: RawResponse) => void
  onFailure: (error: Error) => void
}

const HEAD_END = Buffer.from('\r\n\r\n')
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i
const CHUNKED = /\r\ntransfer-encoding: *chunked/i
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')
const RECEIVE_BYTES = 64 * 1024

/** Where the response ends; undefined if that is not known yet. A body in chunks keeps their sizes. */
const findEnd = (bytes: Buffer, head: string, bodyStart: number): number | undefined => {
  const contentLength = CONTENT_LENGTH.exec(head)?.[1]
  if (contentLength !== undefined) return bodyStart + Number(contentLength)
  if (!CHUNKED.test(head)) throw new Error(`a response without Content-Length: ${head.slice(0, 200)}`)
  const lastChunk = bytes.indexOf(LAST_CHUNK, bodyStart)
  return lastChunk < 0 ? undefined : lastChunk + LAST_CHUNK.length
}

/** The first complete response in the bytes and its length, or undefined while a part of it is missing. */
const parseResponse = (bytes: Buffer): { response: RawResponse; length: number } | undefined => {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const bodyStart = headEnd + HEAD_END.length
  const length = findEnd(bytes, head, bodyStart)
  if (length === undefined || bytes.length < length) return undefined
  return { response: { status: Number(head.slice(9, 12)), head, body: bytes.subarray(bodyStart, length) }, length }
}

/**
 * A keep-alive connection to this machine with a minimal HTTP/1.1 parser, so that the client is faster than the server.
 */
export const connect = ({ port, onResponse, onFailure }: ConnectionOptions): Connection => {
  let pending: Buffer | undefined
  let closed = false

  const receive = (chunk: Buffer): void => {
    const bytes = pending === undefined ? chunk : Buffer.concat([pending, chunk])
    const parsed = parseResponse(bytes)
    if (parsed === undefined) {
      // The receive buffer is reused for the next chunk.
      pending = Buffer.from(bytes)
      return
    }
    if (parsed.length !== bytes.length) throw new Error('more bytes than the expected response')
    pending = undefined
    onResponse(parsed.response)
  }

  const fail = (error: Error): void => {
    if (closed) return
    closed = true
    socket.destroy()
    onFailure(error)
  }

  const onread = {
    buffer: Buffer.allocUnsafeSlow(RECEIVE_BYTES),
    callback: (length: number, buffer: Uint8Array): boolean => {
      try {
        receive(Buffer.from(buffer.buffer, buffer.byteOffset, length))
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)))
      }
      return true
    },
  }
  const socket = connectSocket({ host: '127.0.0.1', port, noDelay: true, onread })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))

  return {
    send: (request) => void socket.write(request),
    close: () => {
      closed = true
      socket.destroy()
    },
  }
}

/** Sends one request on a new connection, and resolves to the whole response with a copy of its body. */
export const sendRequest = (port: number, request: string | Buffer): Promise<RawResponse> =>
  new Promise((resolve, reject) => {
    const connection = connect({
      port,
      onResponse: (response) => {
        connection.close()
        resolve({ ...response, body: Buffer.from(response.body) })
      },
      onFailure: reject,
    })
    connection.send(request)
  })
