/** An answer whose body is read as it comes. */
export interface Answer {
  status: number
  header(name: string): string | undefined
  chunks: AsyncIterable<Uint8Array>
}

interface Options {
  headers: Record<string, string>
  signal: AbortSignal
}

interface NodeSocket {
  unref(): void
}

interface NodeMessage extends AsyncIterable<Uint8Array> {
  statusCode?: number
  headers: Record<string, string | string[] | undefined>
}

interface NodeRequest {
  on(event: 'socket', listener: (socket: NodeSocket) => void): NodeRequest
  on(event: 'response', listener: (response: NodeMessage) => void): NodeRequest
  on(event: 'error', listener: (error: Error) => void): NodeRequest
}

interface NodeHttp {
  get(url: string, options: Options): NodeRequest
}

interface Runtime {
  process?: { getBuiltinModule?: (name: string) => NodeHttp | undefined }
}

// Only a socket of Node can wait without keeping the process alive; `fetch` has no way to say so. Where there is none,
// such as in Cloudflare Workers, nothing is imported.
const findNodeHttp = (url: string): NodeHttp | undefined =>
  (globalThis as Runtime).process?.getBuiltinModule?.(url.startsWith('https:') ? 'https' : 'http')

const getByNode = (http: NodeHttp, url: string, options: Options): Promise<Answer> =>
  new Promise((resolve, reject) => {
    http
      .get(url, options)
      .on('socket', (socket) => socket.unref())
      .on('error', reject)
      .on('response', (response) =>
        resolve({
          status: response.statusCode ?? 0,
          header: (name) => response.headers[name]?.toString(),
          chunks: response,
        }),
      )
  })

async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) yield next.value
}

/** Sends a `GET`; follows no redirect, so that the key goes to svc and to nobody else. */
export const get = async (url: string, options: Options): Promise<Answer> => {
  const http = findNodeHttp(url)
  if (http) return getByNode(http, url, options)
  const { status, headers, body } = await fetch(url, { ...options, redirect: 'manual' })
  return { status, header: (name) => headers.get(name) ?? undefined, chunks: chunksOf(body) }
}
