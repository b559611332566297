import fc from 'fast-check'
import { once } from 'node:events'
import net from 'node:net'
import { STATUS_CODES } from 'node:http'
import type { Request } from '../client/user-agent.ts'

/** How a request is written down: all ways mean the same to a server. */
export interface Writing {
  body: 'length' | 'chunks'
  /** Of chunks, in bytes. */
  chunkSize: number
  extension: string
  trailer: string
  target: 'path' | 'url'
  names: 'lower' | 'upper' | 'mixed'
  expects: boolean
}

export const writing: fc.Arbitrary<Writing> = fc.record({
  body: fc.constantFrom('length', 'length', 'chunks'),
  chunkSize: fc.integer({ min: 1, max: 4000 }),
  extension: fc.constantFrom('', '', ';a=b', ';name="a;b"'),
  trailer: fc.constantFrom('', '', 'X-Trailer: a\r\n', 'Set-Cookie: svc_access=x\r\n'),
  target: fc.constantFrom('path', 'path', 'path', 'url'),
  names: fc.constantFrom('lower', 'lower', 'upper', 'mixed'),
  expects: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
})

const CASES = {
  lower: (name: string) => name,
  upper: (name: string) => name.toUpperCase(),
  mixed: (name: string) => name.replaceAll(/\b\w/g, (letter) => letter.toUpperCase()),
}

const inChunks = (body: Buffer, { chunkSize, extension, trailer }: Writing): Buffer => {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += chunkSize) {
    const chunk = body.subarray(at, at + chunkSize)
    parts.push(Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from(`0\r\n${trailer}\r\n`)])
}

/** The bytes of a request. `more` are header lines at its end. */
export const toBytes = (
  { method, path, headers = {}, body = '' }: Request,
  how: Writing,
  { host, more = '' }: { host: string; more?: string },
): Buffer => {
  const content = Buffer.from(body)
  const hasBody = content.length > 0
  const lines = Object.entries({ host, ...headers }).map(
    ([name, value]) => `${CASES[how.names](name)}: ${String(value)}\r\n`,
  )
  if (hasBody)
    lines.push(how.body === 'chunks' ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${content.length}\r\n`)
  if (hasBody && how.expects) lines.push('Expect: 100-continue\r\n')
  const target = how.target === 'url' ? `http://${host}${path}` : path
  const head = `${method} ${target} HTTP/1.1\r\n${lines.join('')}${more}\r\n`
  const sent = hasBody && how.body === 'chunks' ? inChunks(content, how) : content
  return Buffer.concat([Buffer.from(head, 'latin1'), sent])
}

/**
 * Sends bytes in parts of these sizes, again and again, and resolves to all that comes back until the other side ends.
 * Where nothing comes back for `patienceMs`, as where the server waits for more, it sends the end.
 */
export const exchangeBytes = async (
  port: number,
  bytes: Buffer,
  { sizes, patienceMs }: { sizes: readonly number[]; patienceMs: number },
): Promise<Buffer> => {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
  const received: Buffer[] = []
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => {})
  await once(socket, 'connect')
  let at = 0
  for (let part = 0; at < bytes.length && socket.writable; part += 1) {
    const size = sizes.length === 0 ? bytes.length : (sizes[part % sizes.length] ?? 1)
    socket.write(bytes.subarray(at, at + size))
    at += size
    if (sizes.length > 0 && part < MOST_PARTS) await new Promise(setImmediate)
  }
  socket.setTimeout(patienceMs, () => socket.end())
  await closed
  return Buffer.concat(received)
}

/** So many parts have a moment between them. */
const MOST_PARTS = 50

export interface WireResponse {
  status: number
  headers: Map<string, string>
  body: Buffer
}

/** Reads a response as a strict client does. Throws where it is none. */
const readResponse = (bytes: Buffer, method: string | undefined): { response: WireResponse; length: number } => {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) throw new Error(`half a head: ${bytes.toString('latin1', 0, 300)}`)
  const [line = '', ...fields] = bytes.toString('latin1', 0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1])
  if (!(status in STATUS_CODES)) throw new Error(`no status line: ${line.slice(0, 300)}`)
  const headers = new Map(
    fields.map((field): [string, string] => {
      const [, name, value] = /^([\w-]+): *(.*)$/.exec(field) ?? []
      if (name === undefined || value === undefined) throw new Error(`no header: ${field}`)
      return [name.toLowerCase(), value]
    }),
  )
  const hasNone = status < 200 || status === 204 || status === 304 || method === 'HEAD'
  const size = hasNone ? 0 : Number(headers.get('content-length'))
  const from = end + 4
  if (!(from + size <= bytes.length)) throw new Error(`half a body of ${size} bytes: ${line}`)
  return { response: { status, headers, body: bytes.subarray(from, from + size) }, length: from + size }
}

/** All responses on a connection to requests with these methods, without those that only say to go on. */
export const readResponses = (received: Buffer, methods: readonly string[]): WireResponse[] => {
  const responses: WireResponse[] = []
  for (let rest = received; rest.length > 0; ) {
    const { response, length } = readResponse(rest, methods[responses.length])
    if (response.status >= 200) responses.push(response)
    rest = rest.subarray(length)
  }
  return responses
}
