import { type ClientRequest, get } from 'node:http'

/** Event streams of revocations that are open. */
export interface Streams {
  close(): void
}

interface StreamOptions {
  key: string
  /** Takes the data of each event. */
  onEvent: (data: string) => void
}

/** Opens a stream; resolves when its first part has come. */
const follow = (port: number, { key, onEvent }: StreamOptions): Promise<ClientRequest> => {
  const headers = { host: 'localhost', authorization: `Bearer ${key}`, accept: 'text/event-stream' }
  const path = '/auth/api/v2/revocations'
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a stream was answered ${response.statusCode}`))
      let rest = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        const blocks = (rest + text).split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) {
          const data = /^data: (.*)$/m.exec(block)?.[1]
          if (data !== undefined) onEvent(data)
        }
        resolve(request)
      })
    }).on('error', reject)
  })
}

/** Opens so many streams, in turn at each of the ports. */
export const followAll = async (ports: readonly number[], count: number, options: StreamOptions): Promise<Streams> => {
  const requests: ClientRequest[] = []
  while (requests.length < count) requests.push(await follow(ports[requests.length % ports.length] ?? 0, options))
  return { close: () => requests.forEach((request) => request.on('error', () => {}).destroy()) }
}
