import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import http from 'node:http'
import type { TestContext } from 'node:test'
import { afterwards } from '../cleanup.ts'

/** A server on a port of this machine, which a test can stop and start. */
export type LoopbackServer = {
  /** http://HOST:PORT */
  origin: string
  /** A listener that throws makes a response with status 500 and the error. */
  onRequest(listener: (request: IncomingMessage, response: ServerResponse) => unknown): void
  /** Breaks all connections and refuses new ones. */
  stop(): Promise<void>
  /** Listens on the same port again. */
  start(): Promise<void>
}

// Below the ports that systems use for outgoing connections, so that the port of a stopped server stays closed.
const PORTS = [10_240, 32_000] as const

const listen = async (server: http.Server, port: number): Promise<void> => {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')

const listenSomewhere = async (server: http.Server, triesLeft = 20): Promise<number> => {
  const port = randomInt(...PORTS)
  try {
    await listen(server, port)
    return port
  } catch (error) {
    if (!isTaken(error) || triesLeft === 0) throw error
    return listenSomewhere(server, triesLeft - 1)
  }
}

/** The address of a provider, its lifetime, and its client. */
export type ProviderOptions = {
  t?: TestContext | undefined
  host?: 'localhost' | '127.0.0.1' | undefined
  clientId?: string
  clientSecret?: string
}

/**
 * Listens on a free port of 127.0.0.1 until the test ends, or the file when no test is given. `host` is the host of its
 * `origin`: for a browser, 127.0.0.1 is another site than localhost.
 */
export const listenOnLoopback = async ({
  t,
  host = '127.0.0.1',
}: Pick<ProviderOptions, 't' | 'host'>): Promise<LoopbackServer> => {
  const server = http.createServer()
  const port = await listenSomewhere(server)
  const stop = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  afterwards(t, stop)
  return {
    origin: `http://${host}:${port}`,
    onRequest: (listener) => {
      server.on('request', async (request, response) => {
        try {
          await listener(request, response)
        } catch (error) {
          if (response.headersSent) response.destroy()
          else response.writeHead(500, { 'content-type': 'text/plain' }).end(String(error))
        }
      })
    },
    stop,
    start: () => listen(server, port),
  }
}

/** The body of a request, as text. */
export const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

/** Text escaped for HTML, quoted attributes included. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** The sign-in page of a provider: one form without an action, so that it posts to the page's own address. */
export const signInPage = ({
  title,
  name,
  hidden,
}: {
  title: string
  name: string
  hidden: [string, string]
}): string =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<main>
<h1>${escapeHtml(title)}</h1>
<form method="post">
<input type="hidden" name="${hidden[0]}" value="${escapeHtml(hidden[1])}">
<button name="answer" value="sign-in">Sign in as ${escapeHtml(name)}</button>
<button name="answer" value="cancel">Cancel</button>
</form>
</main>
</html>`
