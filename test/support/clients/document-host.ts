import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setDefaultCACertificates, getCACertificates } from 'node:tls'
import { afterwards } from '../cleanup.ts'
import { createAuthority } from '../network/certificates.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

export type DocumentHost = {
  /** The URL of a document, which is answered as the last `answer` for it says. */
  urlOf(name: string): string
  answer(name: string, answer: Answer): void
  /** Answers with a good document, in which members are changed, or left out where they are undefined. */
  publish(name: string, changes?: Record<string, unknown>, headers?: Record<string, string>): string
  /** The requests so far for a document. */
  requestsFor(name: string): IncomingMessage[]
}

export const LOOPBACK_URI = 'http://127.0.0.1/callback'

/** A host of metadata documents with TLS, which this process trusts: its test file runs alone. */
export const startDocumentHost = async (hostName = 'localhost'): Promise<DocumentHost> => {
  const authority = createAuthority('Authority of documents')
  const { certificate, key } = authority.issue(hostName, hostName)
  const before = getCACertificates()
  setDefaultCACertificates([...before, authority.root])
  const answers = new Map<string, Answer>()
  const requests: IncomingMessage[] = []
  const server = createServer({ cert: certificate, key }, (request, response) => {
    requests.push(request)
    const answer = answers.get(request.url ?? '')
    if (answer) answer(request, response)
    else response.writeHead(404).end()
  })
  server.listen(0)
  await new Promise((resolve) => server.once('listening', resolve))
  afterwards(undefined, async () => {
    setDefaultCACertificates(before)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const urlOf = (name: string) => `https://${hostName}:${port}/${name}`
  const answer = (name: string, given: Answer) => void answers.set(`/${name}`, given)
  return {
    urlOf,
    answer,
    publish(name, changes = {}, headers = {}) {
      const document = {
        client_id: urlOf(name),
        client_name: 'Agent',
        redirect_uris: [LOOPBACK_URI],
        token_endpoint_auth_method: 'none',
        ...changes,
      }
      answer(name, (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(document))
      })
      return urlOf(name)
    },
    requestsFor: (name) => requests.filter(({ url }) => url === `/${name}`),
  }
}
