import assert from 'node:assert/strict'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Backend } from '../client/backend.ts'
import type { Answer } from '../client/user-agent.ts'
import { within } from '../wait.ts'

// An import would also load all of fetch in every process of the tests.
const http = process.getBuiltinModule('node:http')

/** An entry, as readers get it. */
export type Revocation = {
  seq: number
  at: string
  type: string
  user_id: string | null
  session_ids?: string[]
  replaced_by?: string
  reason?: string
  not_before?: number
  expires_at: string
}

/** Checks how long an entry is kept. The clock of a server goes on between its two times. */
export const assertIsKept = (
  { at, expires_at: expiresAt }: Pick<Revocation, 'at' | 'expires_at'>,
  keptMs: number,
): void => {
  const isMs = Date.parse(expiresAt) - Date.parse(at)
  assert.ok(isMs >= keptMs && isMs < keptMs + 60_000, `${isMs} ms in place of ${keptMs}`)
}

export type Page = { events: Revocation[]; next_cursor: string; more: boolean; complete: boolean }

/** Sends a request for the feed with these parameters. */
export const ask = (backend: Backend, query: Record<string, string | number> = {}): Promise<Answer> => {
  const given = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])
  return backend.call('GET', `/revocations?${new URLSearchParams(given).toString()}`)
}

/** Reads a page, which must be there. */
export const read = async (backend: Backend, query: Record<string, string | number> = {}): Promise<Page> => {
  const answer = await ask(backend, query)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Page>()
}

/** Reads all pages: those after a cursor, or all that still matters. */
export const readAll = async (backend: Backend, cursor?: string): Promise<{ events: Revocation[]; cursor: string }> => {
  const events: Revocation[] = []
  for (let next = cursor; ; ) {
    const page = await read(backend, next === undefined ? {} : { cursor: next })
    assert.ok(page.complete)
    events.push(...page.events)
    next = page.next_cursor
    if (!page.more) return { events, cursor: next }
  }
}

/** A block of an event stream, as it was sent. */
export type Block = { id?: string; event?: string; data?: unknown; isComment: boolean }

export type Stream = {
  status: number
  headers: IncomingHttpHeaders
  /** Gives the next block; undefined once the stream has ended. */
  next(): Promise<Block | undefined>
  /** Gives the next event, and passes over comments. */
  event(): Promise<Block | undefined>
  close(): void
}

const toBlock = (text: string): Block => {
  const fields = text.split('\n').map((line) => /^(id|event|data): (.*)$/.exec(line) ?? [])
  const valueOf = (name: string) => fields.find(([, each]) => each === name)?.[2]
  const [id, event, data] = [valueOf('id'), valueOf('event'), valueOf('data')]
  return {
    ...(id !== undefined && { id }),
    ...(event !== undefined && { event }),
    ...(data !== undefined && { data: JSON.parse(data) as unknown }),
    isComment: text.startsWith(':'),
  }
}

type Target = { url: string; key: string; query?: string; headers?: OutgoingHttpHeaders }

/** Opens an event stream. */
export const openStream = ({ url, key, query = '', headers = {} }: Target): Promise<Stream> => {
  const { host, port } = new URL(url)
  const sent = { host, authorization: `Bearer ${key}`, accept: 'text/event-stream', ...headers }
  const path = `/auth/api/v2/revocations${query}`
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port, path, headers: sent, agent: false }, (response) => {
      const blocks: Block[] = []
      let text = ''
      const state: { hasEnded: boolean; wake?: () => void } = { hasEnded: false }
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        const parts = (text + part).split('\n\n')
        text = parts.pop() ?? ''
        blocks.push(...parts.map(toBlock))
        state.wake?.()
      })
      const end = (): void => {
        state.hasEnded = true
        state.wake?.()
      }
      response.on('end', end).on('error', end)
      const next = async (): Promise<Block | undefined> => {
        while (blocks.length === 0 && !state.hasEnded) {
          const { promise, resolve: arrived } = Promise.withResolvers<void>()
          state.wake = arrived
          await within(60, 'a block of the stream', promise)
        }
        return blocks.shift()
      }
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        next,
        async event() {
          for (;;) {
            const block = await next()
            if (!block?.isComment) return block
          }
        },
        close: () => request.destroy(),
      })
    })
    request.on('error', reject)
  })
}
