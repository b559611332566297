import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterwards } from '../cleanup.ts'
import { eventually } from '../wait.ts'

// See the user agent.
const http = process.getBuiltinModule('node:http')

/** A client that is told of logouts. */
export type LogoutReceiver = {
  url: string
  /** The logout tokens that have arrived, in their order. */
  tokens: string[]
  answerWith(answer: (response: ServerResponse) => void): void
  /** Resolves once that many have arrived in all. */
  received(count: number): Promise<string[]>
}

const accept = (response: ServerResponse): void => void response.writeHead(200).end()

export const startLogoutReceiver = async (): Promise<LogoutReceiver> => {
  const tokens: string[] = []
  let answer = accept
  const server = http.createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      tokens.push(new URLSearchParams(body).get('logout_token') ?? '')
      answer(response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterwards(undefined, () => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/logout`,
    tokens,
    answerWith: (given) => {
      answer = given
    },
    async received(count) {
      await eventually('logout tokens', () => tokens.length >= count)
      return tokens
    },
  }
}
