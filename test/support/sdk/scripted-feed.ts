import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Key } from './published-keys.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

/** What is asked, by the parts of the server that a test may give an answer of its own. */
type Part = 'stream' | 'page' | 'user'

const partOf = ({ url = '', headers }: IncomingMessage): Part | 'keys' => {
  if (url.includes('jwks')) return 'keys'
  if (url.startsWith('/auth/api/v1/user')) return 'user'
  return headers.accept === 'text/event-stream' ? 'stream' : 'page'
}

const cursorOf = ({ url = '' }: IncomingMessage): string | null =>
  new URL(url, 'http://svc.invalid').searchParams.get('cursor')

type Entry = Record<string, unknown> & { type: string }

/** An entry of the feed; what is left out is as svc would write it now. */
export const entryOf = (changes: Entry): Entry => ({
  at: new Date().toISOString(),
  expires_at: new Date(Date.now() + 900_000).toISOString(),
  user_id: 'user',
  ...changes,
})

/** An entry that ends these sessions. */
export const endOf = (...sessionIds: string[]): Entry =>
  entryOf({ type: 'session-revoked', session_ids: sessionIds, reason: 'logout' })

/**
 * Stands for svc where it is told to answer as svc would not: it is silent, or sends what is no feed. Until then it speaks
 * the contract, but for the comments, which a test sends.
 */
export const startScriptedFeed = async (t: TestContext, keys: Key[]) => {
  const entries: (Entry & { seq: number })[] = []
  const streams = new Set<ServerResponse>()
  /** Polls that wait for the next entry. */
  const polls = new Set<() => void>()
  const asked: string[] = []
  const own: Partial<Record<Part, Answer>> = {}

  const write = (response: ServerResponse, entry: Entry & { seq: number }): unknown =>
    response.write(`id: ${entry.seq}\nevent: ${entry.type}\ndata: ${JSON.stringify(entry)}\n\n`)
  const after = (cursor: string | null) => entries.filter(({ seq }) => seq > Number(cursor))

  const answers: Record<Part | 'keys', Answer> = {
    keys: (_, response) => response.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) })),
    user: (_, response) => response.writeHead(401).end('{}'),
    page: (request, response) => {
      const end = (): void => {
        polls.delete(end)
        const rest = { next_cursor: String(entries.length), more: false, complete: true }
        response.end(JSON.stringify({ events: after(cursorOf(request)), ...rest }))
      }
      if (request.url?.includes('wait=0')) end()
      else polls.add(end)
    },
    stream: (request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': \n\n')
      for (const entry of after(cursorOf(request))) write(response, entry)
      streams.add(response)
      response.on('close', () => streams.delete(response))
    },
  }
  const server = createServer((request, response) => {
    const part = partOf(request)
    asked.push(part === 'page' || part === 'stream' ? `${part} ${cursorOf(request)}` : part)
    ;(part === 'keys' ? answers.keys : (own[part] ?? answers[part]))(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** What was asked for: pages and streams with their cursors. */
    asked,
    streams: () => streams.size,
    /** Adds an entry, and sends it to those that wait. */
    push(entry: Entry): void {
      const numbered = { seq: entries.length + 1, ...entry }
      entries.push(numbered)
      for (const stream of streams) write(stream, numbered)
      for (const end of polls) end()
    },
    /** Forgets all entries, as the backup of an empty database. */
    forget(): void {
      entries.length = 0
    },
    /** Sends a text as it is on every stream. */
    send(text: string | Buffer): void {
      for (const stream of streams) stream.write(text)
    },
    endStreams(): void {
      for (const stream of streams) stream.end()
    },
    /** Gives a part an answer of its own, or takes it away. */
    answer(part: Part, answer: Answer | undefined): void {
      if (answer) own[part] = answer
      else delete own[part]
    },
  }
}
