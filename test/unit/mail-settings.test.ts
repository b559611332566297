// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../src/lib/errors.ts'
import { mailbox, readSmtpUrl, shownSmtp } from '../../src/config/mail-parsers.ts'
import type { SmtpServer } from '../../src/mail/mail-settings.ts'

const login = { user: 'ada', password: 'secret' }

describe('SVC_SMTP_URL', () => {
  const accepted: [string, SmtpServer, shown: string][] = [
    [
      'smtp://ada:secret@mail.example.com:2525',
      { host: 'mail.example.com', port: 2525, tls: 'starttls', login },
      'smtp://…@mail.example.com:2525',
    ],
    [
      'smtp://mail.example.com',
      { host: 'mail.example.com', port: 587, tls: 'starttls', login: undefined },
      'smtp://mail.example.com:587',
    ],
    [
      'smtps://ada:secret@mail.example.com/',
      { host: 'mail.example.com', port: 465, tls: 'implicit', login },
      'smtps://…@mail.example.com:465',
    ],
    ['smtp://relay:25?tls=off', { host: 'relay', port: 25, tls: 'off', login: undefined }, 'smtp://relay:25?tls=off'],
    [
      'smtp://localhost:1025',
      { host: 'localhost', port: 1025, tls: 'offered', login: undefined },
      'smtp://localhost:1025',
    ],
    [
      'smtp://127.0.0.2:1025',
      { host: '127.0.0.2', port: 1025, tls: 'offered', login: undefined },
      'smtp://127.0.0.2:1025',
    ],
    ['smtp://[::1]:1025', { host: '::1', port: 1025, tls: 'offered', login: undefined }, 'smtp://[::1]:1025'],
    [
      'smtp://[2001:db8::1]',
      { host: '2001:db8::1', port: 587, tls: 'starttls', login: undefined },
      'smtp://[2001:db8::1]:587',
    ],
    ['smtps://127.0.0.1', { host: '127.0.0.1', port: 465, tls: 'implicit', login: undefined }, 'smtps://127.0.0.1:465'],
    [
      'smtp://ada%40example.com:a%3Ab%2Fc%40%25%C3%A4@mail.example.com',
      {
        host: 'mail.example.com',
        port: 587,
        tls: 'starttls',
        login: { user: 'ada@example.com', password: 'a:b/c@%ä' },
      },
      'smtp://…@mail.example.com:587',
    ],
  ]
  for (const [text, settings, shown] of accepted) {
    test(`accepts ${text}`, () => {
      assert.deepEqual(readSmtpUrl(text), settings)
      assert.equal(shownSmtp(settings), shown)
    })
  }

  const refused = [
    'mail.example.com',
    'mail.example.com:587',
    '//mail.example.com',
    'http://mail.example.com',
    'smtp:mail.example.com',
    'smtp:/mail.example.com',
    'smtp://',
    'smtp://:587',
    'smtp://mail.example.com:0',
    'smtp://mail.example.com:65536',
    'smtp://mail.example.com:smtp',
    'smtp://mail.example.com/path',
    'smtp://mail.example.com#fragment',
    'smtp://mail.example.com?tls=on',
    'smtp://mail.example.com?tls=off&tls=off',
    'smtp://mail.example.com?TLS=off',
    'smtp://mail example.com',
    'smtp://mäil.example.com',
    'smtp://-mail.example.com',
    'smtp://mail..example.com',
    'smtp://[mail.example.com]',
    'smtp://[::1',
    'smtp://::1',
    'smtp://ada:se/cret@mail.example.com',
    'smtp://ada:se#cret@mail.example.com',
    ' smtp://mail.example.com',
    'smtp://mail.example.com\r\nX: y',
  ]
  for (const text of refused) test(`refuses ${JSON.stringify(text)}`, () => assert.equal(readSmtpUrl(text), undefined))

  const explained: [string, RegExp][] = [
    ['smtps://mail.example.com?tls=off', /tls=off belongs to smtp/],
    ['smtp://ada@mail.example.com', /belong together/],
    ['smtp://ada:@mail.example.com', /belong together/],
    ['smtp://:secret@mail.example.com', /belong together/],
    ['smtp://@mail.example.com', /belong together/],
    ['smtp://ada:se:cret@mail.example.com', /%3A/],
    ['smtp://ada:se@cret@mail.example.com', /%40/],
    ['smtp://ada:100%@mail.example.com', /percent-encoded/],
    ['smtp://ada:%ff@mail.example.com', /percent-encoded/],
    ['smtp://ada:se%00cret@mail.example.com', /control characters/],
    ['smtp://ada:se%0d%0acret@mail.example.com', /control characters/],
  ]
  for (const [text, reason] of explained) {
    test(`refuses ${text} and says why, without the password`, () => {
      assert.throws(
        () => readSmtpUrl(text),
        (error) => error instanceof AppError && reason.test(error.message) && !error.message.includes('cret'),
      )
    })
  }
})

describe('SVC_MAIL_FROM', () => {
  const accepted: [string, string | undefined, string][] = [
    ['svc@example.com', undefined, 'svc@example.com'],
    [' svc@example.com ', undefined, 'svc@example.com'],
    ['<svc@example.com>', undefined, 'svc@example.com'],
    ['Example <svc@example.com>', 'Example', 'svc@example.com'],
    ['Example, Inc. & Söhne <svc+mail@mail.example.com>', 'Example, Inc. & Söhne', 'svc+mail@mail.example.com'],
    ['"Example \\"A\\", Inc." <svc@example.com>', 'Example "A", Inc.', 'svc@example.com'],
  ]
  for (const [text, name, address] of accepted) {
    test(`accepts ${text}`, () => assert.deepEqual(mailbox.parse(text), { name, address }))
  }

  const refused = [
    '',
    'svc@localhost',
    'Example',
    'svc@',
    '@example.com',
    'svc@example.com, other@example.com',
    'Example <svc@example.com> <other@example.com>',
    'Example <svc@example.com> more',
    'Example <svc example.com>',
    'Example <svc@exämple.com>',
    'Example <svc@example..com>',
    'Example <>',
    'Exam"ple <svc@example.com>',
    'Example\r\nBcc: other@example.com <svc@example.com>',
    'Example\n<svc@example.com>',
    'Example\u2028<svc@example.com>',
    'Example\0 <svc@example.com>',
    'svc@example.com\r\nBcc: other@example.com',
    `${'x'.repeat(101)} <svc@example.com>`,
    `${'x'.repeat(250)}@example.com`,
  ]
  for (const text of refused)
    test(`refuses ${JSON.stringify(text)}`, () => assert.equal(mailbox.parse(text), undefined))
})
