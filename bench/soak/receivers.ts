import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { SMTPServer } from 'smtp-server'

const listen = async (server: Server | NetServer): Promise<number> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A receiver of webhooks and a mail server that accept everything and keep nothing, and the settings that lead there. */
export const startReceivers = async () => {
  let events = 0
  let messages = 0
  const receiver = createServer((request, response) => {
    events += 1
    request.resume()
    response.writeHead(204).end()
  })
  const mail = new SMTPServer({
    logger: false,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onData(stream, _session, answer) {
      messages += 1
      stream.resume().once('end', () => answer())
    },
  })
  const [webhookPort, mailPort] = [await listen(receiver), await listen(mail.server)]
  return {
    env: {
      SVC_WEBHOOK_URL: `http://127.0.0.1:${webhookPort}/`,
      SVC_WEBHOOK_SECRET: randomBytes(32).toString('base64'),
      SVC_SMTP_URL: `smtp://127.0.0.1:${mailPort}`,
      SVC_MAIL_FROM: 'soak@example.com',
    },
    counts: () => ({ events, messages }),
    async [Symbol.asyncDispose]() {
      receiver.closeAllConnections()
      receiver.close()
      await new Promise<void>((resolve) => mail.close(() => resolve()))
    },
  }
}
