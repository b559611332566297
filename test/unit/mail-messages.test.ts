// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { parseColour, contrast } from '../../src/lib/colour.ts'
import { parseOwnStyle } from '../../src/lib/own-style.ts'
import type { Message, MessageOf } from '../../src/mail/message.ts'
import type { MessageBranding } from '../../src/mail/messages/content.ts'
import { type RenderedMessage, renderMessage } from '../../src/mail/messages/render.ts'
import { MAIL_BASE_URL, MESSAGES } from '../../src/preview/messages.ts'
import en from '../../src/languages/en.json' with { type: 'json' }
import { type Tag, tagsOf as allTagsOf } from './pages-views.ts'

const BRANDING: MessageBranding = {
  appName: 'Acme',
  accentColor: '#0f6b5c',
  baseUrl: MAIL_BASE_URL,
  supportUrl: 'https://help.example.com/accounts?from=mail&lang=en',
  passwords: true,
}

const render = (message: Message, branding: Partial<MessageBranding> = {}): RenderedMessage =>
  renderMessage(message, { ...BRANDING, ...branding })

const messageNamed = (name: string): Message => {
  const message = MESSAGES.get(name)
  assert.ok(message, name)
  return message
}

const count = (text: string, part: string): number => text.split(part).length - 1

/** The tags, without those that Word alone reads. */
const tagsOf = (html: string): Tag[] => allTagsOf(html.replaceAll(/<!--\[if mso\]>[^]*?<!\[endif\]-->/g, ''))

/** The text of HTML as a reader sees it. */
const shownText = (html: string): string =>
  html
    .replace(/<head>[^]*<\/head>/, '')
    .replace(/<div style="display:none[^]*?<\/div>/, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/** Without colons, which stand after labels in plain text only, and with single spaces. */
const plainWords = (text: string): string => text.replaceAll(':', '').replaceAll(/\s+/g, ' ').trim()

/** The button's address; undefined without a button. */
const buttonOf = ({ html }: RenderedMessage): string | undefined =>
  tagsOf(html).find(({ name, attributes }) => name === 'a' && attributes.class !== 'link')?.attributes.href

const withHelp = (supportUrl: string | undefined): RenderedMessage => render(messageNamed('reset'), { supportUrl })

/** Messages that ask for nothing that svc could do. */
const WITHOUT_LINK =
  /^(?:email_taken|email_reserved|email_left|confirm_code|administration_.*|test|account_deleted.*|(?!provider_connected|passkey_added|second_factor_set_up|new_browser|application_connected|program_connected).*_to_former_address)$/

describe('each message', () => {
  for (const [name, message] of MESSAGES) {
    test(`${name} has at most one button, and the same address in plain, in both parts`, () => {
      assert.deepEqual(JSON.parse(JSON.stringify(message)), message, 'the outbox stores it as JSON')
      const rendered = render(message)
      const url = buttonOf(rendered)
      assert.equal(url === undefined, WITHOUT_LINK.test(name))
      if (url === undefined) {
        const { text } = render(message, { supportUrl: undefined })
        // A code is for one site, which its message names.
        assert.doesNotMatch(text.replace(`only at ${MAIL_BASE_URL} `, ''), /https?:|mailto:/)
        return
      }
      assert.ok(url.startsWith(`${MAIL_BASE_URL}/auth/`), url)
      assert.equal(rendered.text.split('\n').filter((line) => line === url).length, 1)
      assert.equal(count(rendered.text, url), 1)
      assert.equal(count(shownText(rendered.html), url), 1)
      assert.equal(tagsOf(rendered.html).filter(({ attributes }) => attributes.href === url).length, 1)
      const isFirst = /^(?:reset|verify|new_email|invite|first_factor|account_exists|sign_in(?!_link))/.test(name)
      assert.deepEqual(
        [count(rendered.html, 'class="label"'), count(rendered.html, 'class="quiet"')],
        isFirst ? [1, 0] : [0, 1],
      )
    })
  }

  test('about failed logins says which', () => {
    const texts = ['', '_anywhere', '_in_known_browser'].map((of) => render(messageNamed(`login_limited${of}`)).text)
    assert.equal(new Set(texts).size, 3)
  })

  test('that tells what a button would end names connected applications, where users can connect some', () => {
    const END = 'Connected applications are disconnected too.'
    for (const passwords of [true, false])
      for (const [name, message] of MESSAGES) {
        const { text } = render(message, { passwords, clients: true })
        assert.equal(text.includes(END), /This logs out all devices|and logs out all devices/.test(text), name)
        assert.ok(!render(message, { passwords }).text.includes(END), name)
      }
  })

  test('gives an administrator the whole command as one value', () => {
    const { text } = render(messageNamed('administration_signed_in'))
    assert.match(text, /the command svc admins reset grace ends all sessions/)
  })

  test('says the same in both parts', () => {
    for (const [name, message] of MESSAGES) {
      const { text, html } = render(message)
      const shown = plainWords(shownText(html))
      for (const part of text.split(/\n\n(?:-- \n)?|\n(?=https:)/)) {
        assert.ok(shown.includes(plainWords(part)), `${name}: ${part}`)
      }
    }
  })

  test('loads nothing, and leads nowhere but to the service and the support', () => {
    for (const message of MESSAGES.values()) {
      const rendered = render(message)
      const names = tagsOf(rendered.html.replace(/<style>[^]*<\/style>/, '')).map(({ name }) => name)
      assert.deepEqual(
        names.filter((name) => /^(?:img|link|script|iframe|object|embed|video|audio|svg|form|input|base)$/.test(name)),
        [],
      )
      assert.doesNotMatch(rendered.html, /url\(|@import|\b(?:src|srcset|background|action)=/i)
      const targets = tagsOf(rendered.html).flatMap(({ attributes: { href } }) => href ?? [])
      assert.deepEqual(new Set(targets), new Set([buttonOf(rendered), BRANDING.supportUrl].filter(Boolean)))
    }
  })

  test('tells the time in UTC, and the device in names of fixed lists', () => {
    const { text } = render(messageNamed('new_browser'))
    assert.match(text, /^Time: 22 November 2026 at 16:53 UTC\nDevice: Firefox on Linux\nIP address: 203\.0\.113\.7$/m)
    const unknown = { ...messageNamed('new_browser'), device: {} }
    assert.match(render(unknown).text, /^Device: Unknown device$/m)
  })

  test('says how long its link works, whatever the settings are', () => {
    const minute = 60_000
    const lives: [number, string][] = [
      [1, 'one second'],
      [59_999, '59 seconds'],
      [minute, 'one minute'],
      [90_000, 'one minute'],
      [30 * minute, '30 minutes'],
      [60 * minute, 'one hour'],
      [60 * minute + 1, '60 minutes'],
      [90 * minute, '90 minutes'],
      [120 * minute, '2 hours'],
      [24 * 60 * minute, '24 hours'],
      [25.5 * 60 * minute, '25 hours'],
      [72 * 60 * minute, '72 hours'],
      [168 * 60 * minute, '7 days'],
      [Number.MAX_SAFE_INTEGER, '104,249,991 days'],
    ]
    for (const [lifetimeMs, life] of lives) {
      const { text } = render({ ...(messageNamed('reset') as MessageOf<'reset'>), lifetimeMs })
      assert.ok(text.includes(`\n\nThis link works for ${life}.\n\n`), `${lifetimeMs}: ${text}`)
    }
    assert.match(render(messageNamed('undo_requested')).text, /^This link works until 72 hours after the change\.$/m)
  })

  test('tells the network address in messages about the own account only', () => {
    assert.match(render(messageNamed('undo_changed')).text, /^IP address: 203\.0\.113\.7$/m)
    for (const name of ['reset', 'verify', 'new_email', 'invite', 'account_exists', 'email_taken']) {
      assert.doesNotMatch(
        render(Object.assign({ ...messageNamed(name) }, { address: '203.0.113.7' })).text,
        /203/,
        name,
      )
    }
    const forged = { ...messageNamed('new_browser'), address: 'call 555-0100' }
    assert.doesNotMatch(render(forged).text, /555|IP address/)
  })

  test('says who to ask for help, where that is set', () => {
    assert.match(withHelp('https://help.example.com/').text, /^Contact support:\nhttps:\/\/help\.example\.com\/$/m)
    assert.match(withHelp('mailto:100%25%@example.com').text, /^Contact support:\n100%25%@example\.com$/m)
    const byMail = withHelp('mailto:help@example.com?subject=Hello%0D%0ABcc:x')
    assert.match(byMail.text, /^Contact support:\nhelp@example\.com$/m)
    assert.match(byMail.html, /href="mailto:help@example\.com\?subject=/)
    assert.doesNotMatch(withHelp(undefined).text, /support/)
  })

  test('names no password where accounts have none', () => {
    for (const [name, message] of MESSAGES) {
      if (message.kind === 'password_changed') continue
      const { subject, text } = render(message, { passwords: false })
      // A path of the service may.
      assert.doesNotMatch(`${subject} ${text.replaceAll(/^https:.*$/gm, '')}`, /password/i, name)
    }
  })

  test('to an address with an account has the size of one to an address without', () => {
    const [known, unknown] = [render(messageNamed('account_exists')), render(messageNamed('verify'))]
    for (const part of ['subject', 'text', 'html'] as const) {
      const [one, other] = [known[part].length, unknown[part].length]
      assert.ok(Math.abs(one - other) < other / 20, `${part}: ${one} and ${other} characters`)
    }
  })

  test('leads to the base URL of now, and nowhere else', () => {
    const leads: [string, string][] = [
      ['https://before.example.com/auth/x?token=a', '/auth/x?token=a'],
      ['http://app.example.com/auth/x', '/auth/x'],
      ['/auth/x?token=a', '/auth/x?token=a'],
      ['https://before.example.com//evil.example/x', '//evil.example/x'],
      ['//evil.example', '/'],
      ['javascript:alert(1)', '/alert(1)'],
    ]
    const accountExists = messageNamed('account_exists') as MessageOf<'account_exists'>
    for (const [url, path] of leads)
      assert.equal(buttonOf(render({ ...accountExists, url })), `${MAIL_BASE_URL}${path}`)
  })
})

const hostile = fc.oneof(
  fc.constantFrom(
    '"><script>alert(1)</script>',
    "' onclick=alert(1) x='",
    '</title></style></td></table><img src=//evil.example>',
    'ada\r\nBcc: eve@evil.example\r\n\r\nHello',
    '\u202Emoc.elpmaxe@ada\u202C\u2066\u200F',
    '\u2028\u2029\u0085\u0000\ud800',
    `${'a'.repeat(64)}@${`${'b'.repeat(62)}.`.repeat(3)}com`,
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 254 }),
)

/** The message with this text in place of each value that users or operators choose. */
const withText = (message: Message, text: string): Message => {
  const chosen = ['email', 'oldEmail', 'newEmail', 'oldUsername', 'newUsername', 'provider', 'name', 'address']
  return Object.assign(
    { ...message },
    Object.fromEntries(chosen.filter((key) => key in message).map((key) => [key, text])),
  )
}

const skeleton = (html: string): string =>
  tagsOf(html)
    .map(({ name, attributes }) => `${name} ${Object.keys(attributes).join(' ')}`)
    .join('\n')

describe('hostile text in a message', () => {
  test('becomes no tag, no header and no paragraph of its own, and turns no direction', () => {
    const expected = new Map(
      [...MESSAGES].map(([name, message]) => [name, skeleton(render(withText(message, 'x')).html)]),
    )
    fc.assert(
      fc.property(hostile, hostile, (text, appName) => {
        for (const [name, message] of MESSAGES) {
          const { subject, text: plain, html } = render(withText(message, text), { appName: appName.slice(0, 60) })
          assert.equal(skeleton(html), expected.get(name), name)
          assert.doesNotMatch(subject, /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u)
          assert.doesNotMatch(plain + html, /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u)
          assert.equal(count(plain, '\n\n'), count(render(message).text, '\n\n'), name)
          for (const line of plain.split('\n')) assert.ok(line.length <= 998, `${name}: ${line}`)
        }
      }),
      { numRuns: 20 },
    )
  })

  test('that another user chose is in no subject', () => {
    for (const message of MESSAGES.values()) {
      if (message.kind === 'provider_connected' || message.kind === 'provider_removed') continue
      assert.doesNotMatch(render(withText(message, 'Chosen text')).subject, /Chosen/)
    }
  })

  test('leaves each paragraph of plain text on one line, for the mail program to wrap', () => {
    for (const [name, message] of MESSAGES) {
      const { text } = render(message, { appName: 'An application with a rather long name for itself' })
      for (const paragraph of text.split('\n\n')) {
        const isList =
          paragraph.startsWith('-- \n') || /^(?:Email|Time): /.test(paragraph) || paragraph.includes(':\nhttps:')
        assert.equal(paragraph.includes('\n'), isList, `${name}: ${paragraph}`)
      }
    }
  })

  test('is not read for places of values', () => {
    const { text } = render(withText(messageNamed('email_changed'), '{app} {email} {toString}'))
    assert.match(text, /now uses \{app\} \{email\} \{toString\} instead of/)
  })
})

const colourIn = (css: string | undefined, property: string) => {
  const hex = new RegExp(`(?:^|[;{])${property}:(#[\\da-f]{6})`).exec(css ?? '')?.[1]
  assert.ok(hex, `${property} in ${css}`)
  return parseColour(hex)
}

test('the button is readable with any accent colour, light and dark', () => {
  const channel = fc.nat(255).map((value) => value.toString(16).padStart(2, '0'))
  fc.assert(
    fc.property(fc.tuple(channel, channel, channel), (channels) => {
      const accentColor = `#${channels.join('')}`
      const html = ['reset', 'new_browser'].map((name) => render(messageNamed(name), { accentColor }).html).join('')
      const styleOf = (name: string) =>
        tagsOf(html).find(({ attributes }) => attributes.class === name)?.attributes.style
      const darkOf = (name: string) => new RegExp(`\\.${name}\\{[^}]*`).exec(html)?.[0]
      for (const style of [styleOf, darkOf]) {
        const [label, button] = [colourIn(style('label'), 'color'), colourIn(style('button'), 'background-color')]
        assert.ok(contrast(label, button) >= 4.5)
        assert.ok(contrast(colourIn(style('ink'), 'color'), colourIn(style('quiet'), 'background-color')) >= 4.5)
        for (const ground of ['page', 'card', 'facts']) {
          const [colour, edge] = [colourIn(style(ground), 'background-color'), colourIn(style('quiet'), 'border-color')]
          for (const text of ['ink', 'muted', 'link'])
            assert.ok(contrast(colourIn(style(text), 'color'), colour) >= 4.5)
          assert.ok(contrast(edge, colour) >= 3)
        }
      }
    }),
    { numRuns: 60, examples: [[['00', '00', '00']], [['ff', 'ff', 'ff']], [['ff', 'ff', '00']]] },
  )
})

const styleIn = (html: string, name: string): string | undefined =>
  tagsOf(html).find(({ attributes }) => attributes.class === name)?.attributes.style

test('§8.8 a message has the colours of the operator’s stylesheet, and one scheme where there is one', () => {
  const ownStyle = parseOwnStyle(
    ':root{--svc-accent:light-dark(#aa0055,#ff88bb);--svc-text:#123456;--svc-surface:#fffff0}',
  )
  const { html } = render(messageNamed('reset'), { ownStyle })
  assert.match(styleIn(html, 'button') ?? '', /background-color:#aa0055;/)
  assert.match(styleIn(html, 'card') ?? '', /background-color:#fffff0;/)
  assert.match(styleIn(html, 'ink') ?? '', /color:#123456;/)
  assert.match(html, /\.button\{background-color:#ff88bb!important/)
  for (const [colorScheme, button] of [
    ['light', '#aa0055'],
    ['dark', '#ff88bb'],
  ] as const) {
    const { html: one } = render(messageNamed('reset'), { ownStyle, colorScheme })
    assert.match(styleIn(one, 'button') ?? '', new RegExp(`background-color:${button};`))
    assert.doesNotMatch(one, /prefers-color-scheme|data-ogs|light dark/)
    assert.ok(one.includes(`<meta name="color-scheme" content="${colorScheme}">`))
  }
})

test('every colour of a message has one for dark mode', () => {
  for (const message of MESSAGES.values()) {
    const { html } = render(message)
    const dark = /@media \(prefers-color-scheme:dark\)\{(.*)\}$/m.exec(html)?.[1] ?? ''
    const outlook = [...html.matchAll(/^\[data-ogs[bc]\] (\..*)$/gm)].map(([, rule = '']) => rule)
    assert.ok(outlook.length > 0)
    for (const rule of outlook) assert.ok(dark.includes(/[\w-]+:#[^}]*/.exec(rule)?.[0] ?? rule), rule)
    for (const { name, attributes } of tagsOf(html)) {
      if (!/color:/.test(attributes.style ?? '')) continue
      assert.ok(dark.includes(`.${attributes.class}{`), `${name} ${attributes.style}`)
      assert.ok(
        outlook.some((rule) => rule.startsWith(`.${attributes.class}{`)),
        attributes.class,
      )
    }
  }
})

test('each text is used by a message, but for plural forms and lifetimes', () => {
  const all = [...MESSAGES.values()].flatMap((message) =>
    [true, false].flatMap((passwords) => {
      const { html, text } = render(message, { passwords, appName: '{app}' })
      return [shownText(html), text]
    }),
  )
  const unused = Object.entries(en).filter(([key, text]) => {
    if (!key.startsWith('mail.') || /^mail\.(?:life|role|sent_by_host)/.test(key)) return false
    const pieces = String(text).split(/\{(?!app)\w+\}/)
    return !all.some((shown) => pieces.every((piece) => shown.includes(piece)))
  })
  assert.deepEqual(
    unused.map(([key]) => key),
    ['mail.recovery_code_used.left_one'],
  )
})
