// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import { toMessage } from '../../../src/dev/mailbox.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { newPerson, signedUp } from '../../support/client/accounts.ts'
import { startDevHere } from '../../support/dev/dev.ts'
import { connectRaw } from '../../support/network/raw-connection.ts'
import { eventually } from '../../support/wait.ts'

const dev = await startDevHere()

type Message = { to: string; subject: string; text: string; html: string; links: string[]; codes: string[] }

const messagesTo = async (email: string): Promise<Message[]> =>
  (await dev.get('/auth/dev/mail.json')).json<{ messages: Message[] }>().messages.filter(({ to }) => to === email)

const messageTo = async (email: string): Promise<Message> => {
  await eventually(`a message to ${email}`, async () => (await messagesTo(email)).length > 0, 20)
  const [message = assert.fail()] = await messagesTo(email)
  return message
}

test('a message arrives with its text, its page and its links, and one of these confirms the address', async () => {
  const { agent, person } = await signedUp(dev)
  const message = await messageTo(person.email)
  assert.deepEqual(Object.keys(message), ['to', 'subject', 'text', 'html', 'links', 'codes'])
  assert.match(message.subject, /Confirm/)
  assert.ok(message.html.includes('</html>') && message.text.includes(person.email))
  assert.deepEqual(message.codes, [])
  const [link = ''] = message.links
  assert.ok(link.startsWith(`${dev.url}/auth/email/verify?token=`))
  const page = await agent.get(link.slice(dev.url.length))
  assert.equal(page.status, 200)
  const token = new URL(link).searchParams.get('token') ?? ''
  assert.equal((await agent.post('/auth/email/verify', { token })).status, 303)
  assert.equal((await agent.get('/auth/api/v1/user')).headers['x-svc-user-email-verified'], 'true')
})

test('its pages list it, and show it in a frame where it runs nothing', async () => {
  const { person } = await signedUp(dev)
  const { subject, links } = await messageTo(person.email)
  const list = (await dev.get('/auth/dev/mail')).text
  const [, address = assert.fail()] = new RegExp(`href="(/auth/dev/mail/\\d+)"><b>${subject}`).exec(list) ?? []
  const page = await dev.get(address)
  assert.ok(page.text.includes(`href="${links[0]}"`))
  assert.match(page.text, new RegExp(`<iframe [^>]*src="${address}/html" sandbox="(?!.*allow-(?:scripts|same-origin))`))
  const shown = await dev.get(`${address}/html`)
  assert.ok(shown.text.includes(links[0] ?? '') && shown.text.includes('<base target="_top">'))
  assert.match(
    String(shown.headers['content-security-policy']),
    /^sandbox (?!.*allow-scripts).*default-src 'none'.*frame-ancestors 'self'$/,
  )
  assert.equal(shown.headers['x-frame-options'], 'SAMEORIGIN')
  for (const none of ['/auth/dev/mail/999', '/auth/dev/mail/999/html', '/auth/dev/mail/x/y/z'])
    assert.equal((await dev.get(none)).status, 404)
})

describe('the SMTP server', () => {
  const { host = '', port = 0 } = dev.config.smtp ?? {}

  test('takes messages of svc alone: web pages can send text to any port', async (t) => {
    const connection = await connectRaw({ port }, t)
    connection.write('POST / HTTP/1.1\r\nHost: localhost\r\n\r\nEHLO x\r\nMAIL FROM:<a@b.c>\r\n')
    assert.doesNotMatch(await connection.answer(/^(?:421|5\d\d) /m), /^250 /m)
    const send = createTransport({ host, port, auth: { user: 'svc-dev', pass: 'wrong' } })
    await assert.rejects(send.sendMail({ from: 'a@example.com', to: 'b@example.com', text: 'forged' }), {
      code: 'EAUTH',
    })
    const open = createTransport({ host, port })
    await assert.rejects(open.sendMail({ from: 'a@example.com', to: 'b@example.com', text: 'forged' }))
    assert.deepEqual(await messagesTo('b@example.com'), [])
  })
})

const read = async (text: string) => toMessage(await PostalMime.parse(`Subject: x\r\n\r\n${text}`))

test('links and codes are read as a person would', async () => {
  const text =
    'Your code is 12345678. Or 1234 5678, or 123-456. It is 2026-11-28, 10:47, from 192.168.1.20, in 12345 lines.'
  assert.deepEqual((await read(text)).codes, ['12345678', '123456'])
  const { links, codes } = await read('Open http://localhost:8000/auth/x?token=123456 or <https://a.example/b>.')
  assert.deepEqual([links, codes], [['http://localhost:8000/auth/x?token=123456', 'https://a.example/b'], []])
})

test('a page can follow what arrives', async () => {
  const gone = new AbortController()
  const { headers, body } = await fetch(`http://127.0.0.1:${dev.port}/auth/dev/events`, { signal: gone.signal })
  assert.equal(headers.get('content-type'), 'text/event-stream')
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader() ?? assert.fail()
  await createUserAgent(dev).post('/auth/signup', newPerson())
  let told = ''
  while (!/event: mail\ndata: \d*[3-9]\n/.test(told)) told += (await reader.read()).value ?? ''
  gone.abort()
})
