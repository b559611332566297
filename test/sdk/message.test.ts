// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import nodemailer from 'nodemailer'
import { startMailServer } from '../../sdk/src/testing/mail-server.ts'

test('a message arrives as it was written', async (t) => {
  const server = await startMailServer()
  t.after(() => server.stop())
  const transport = nodemailer.createTransport(server.url)
  const text = [
    'Grüße, 日本!',
    '.',
    '..two dots',
    `${'long '.repeat(40)}end = here`,
    'https://example.com/a?b=c&d=é',
  ].join('\n')
  const subject = 'A subject that is long enough to be folded — “Ünïcode”, 日本語, and once more: 日本語 日本語 日本語'
  await transport.sendMail({
    from: 'Ünï <svc@example.com>',
    to: ['ada@example.com', 'grace@example.com'],
    subject,
    text,
    html: '<p>Grüße</p>',
    attachments: [{ filename: 'a.txt', content: 'not the text' }],
  })
  await transport.sendMail({ from: 'svc@example.com', to: 'ada@example.com', subject: 'plain', text: 'plain\n' })
  transport.close()
  const [first, second] = server.messages
  assert.deepEqual(first?.to, ['ada@example.com', 'grace@example.com'])
  assert.equal(first.subject, subject)
  assert.equal(first.from, 'Ünï <svc@example.com>')
  assert.equal(first.text.trimEnd(), text)
  assert.equal(first.html.trimEnd(), '<p>Grüße</p>')
  assert.deepEqual(first.links, ['https://example.com/a?b=c&d=é'])
  assert.deepEqual([second?.subject, second?.text.trimEnd(), second?.html], ['plain', 'plain', ''])
})
