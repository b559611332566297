// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTransport } from 'nodemailer'
import { startSmtpServer } from '../support/network/smtp-server.ts'

const message = { from: 'svc@example.com', to: 'ada@example.com', subject: 'Grüße', text: 'Hello' }

test('a message that arrives is parsed, with its headers and links', async (t) => {
  const server = await startSmtpServer({ t })
  await createTransport(server.url).sendMail({
    ...message,
    text: 'Open https://app.example/a?token=b_c or https://app.example/d',
    html: '<a href="https://app.example/a?token=b_c&amp;x=1">Open</a>',
    messageId: '<1@app.example>',
  })
  const mail = await server.receivedFor('ADA@example.com')
  assert.equal(mail.subject, 'Grüße')
  assert.equal(mail.link, 'https://app.example/a?token=b_c')
  assert.deepEqual(mail.links, ['https://app.example/a?token=b_c', 'https://app.example/d'])
  assert.deepEqual(mail.htmlLinks, ['https://app.example/a?token=b_c&x=1'])
  assert.deepEqual(mail.headers('Message-ID'), ['<1@app.example>'])
})

test('the server refuses at one step, stops, and begins again on the same port', async (t) => {
  const server = await startSmtpServer({ t })
  const transport = createTransport(server.url)
  server.failAt('rcpt', 450)
  await assert.rejects(transport.sendMail(message), { responseCode: 450 })
  server.mend()
  await server.stop()
  await assert.rejects(transport.sendMail(message), { originalCode: 'ECONNREFUSED' })
  await server.start()
  await transport.sendMail(message)
  assert.equal((await server.received(1)).length, 1)
})

test('the server asks for a password', async (t) => {
  const server = await startSmtpServer({ t, user: 'ada@example.com', password: 'p:/@ ä' })
  await createTransport(server.url).sendMail(message)
  assert.equal((await server.receivedFor(message.to)).user, 'ada@example.com')
  await assert.rejects(createTransport(server.url.replace(/:[^:@]+@/, ':wrong@')).sendMail(message), {
    responseCode: 535,
  })
})
