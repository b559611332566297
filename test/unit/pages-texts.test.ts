// Runs once.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { AUDIT_TYPES } from '../../src/audit/audit-event.ts'
import en from '../../src/languages/en.json' with { type: 'json' }
import { waitText } from '../../src/languages/formats.ts'
import { shownActivity } from '../../src/web/account/activity-texts.ts'
import { agoOf, dayOf, momentOf } from '../../src/web/site/time-text.ts'
import { createAllPages } from '../../src/preview/pages.ts'
import { piecesOf, VALUE } from '../support/templates.ts'
import { statesWith } from './pages-views.ts'

const ROOT = path.join(import.meta.dirname, '../..')

const branding = { appName: 'A', logoUrl: undefined, accentColor: '#0f6b5c' }

const readSources = (pattern: string): Map<string, string> =>
  new Map(globSync(pattern, { cwd: ROOT }).map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')]))

/** The words between tags and in the attributes that people see, of one template of HTML. */
const wordsOf = (markup: string): string[] => {
  const shown = markup.replaceAll(/<[^>]*>/g, ' ').replaceAll(/&#?\w+;/g, ' ')
  // A template may be an attribute of another one.
  const between = shown.replaceAll(
    / [a-z-]+="[^"]*"|^ (?:autofocus|checked|data-needed|open|required|selected)$|^href=/g,
    ' ',
  )
  const attributes = markup.match(/\b(?:alt|title|placeholder|label|aria-(?:label|description))="[^"]*"/g) ?? []
  const values = attributes.map((attribute) => attribute.slice(attribute.indexOf('"')))
  return [between, ...values].filter((words) => /\p{L}/u.test(words)).map((words) => words.trim())
}

/** Sentences and labels of a file with templates of HTML, other than the messages of errors. */
const sentencesOf = (source: string): string[] => {
  const { markup, texts } = piecesOf(source)
  if (markup.length === 0) return []
  return texts
    .filter(({ text, before }) => /^\p{Lu}\p{Ll}*(?:$|[ ,.:?!…])/u.test(text) && !/Error\([^)]*$/.test(before))
    .map(({ text }) => text)
}

/**
 * This is a template that makes keys. Its values are the groups of the pattern; the first may be the beginning of a key,
 * which the sources name.
 */
interface KeyTemplate {
  beginsWithKey: boolean
  pattern: RegExp
}

const keyTemplate = (text: string): KeyTemplate => ({
  beginsWithKey: text.startsWith(VALUE),
  pattern: new RegExp(`^${text.split(VALUE).map(RegExp.escape).join('(.+)')}$`),
})

/** The pages show these next. */
const COMING = /^reviewed$/

/** Finds the keys that the sources neither name nor make of a template, with values that are words of the sources. */
const unusedOf = (keys: readonly string[], sources: readonly string[]): string[] => {
  const named = new Set(sources.flatMap((source) => piecesOf(source).texts.map(({ text }) => text)))
  const words = new Set(sources.flatMap((source) => source.match(/\w+/g) ?? []))
  const templates = [...named]
    .filter((text) => /^[\w.\uFFFC]*$/.test(text))
    .filter((text) => text.includes(VALUE) && /[a-z]/.test(text))
    .map(keyTemplate)

  const isKnown = (value: string): boolean => value.split('.').every((word) => words.has(word))
  const isMade = (key: string): boolean =>
    templates.some(({ beginsWithKey, pattern }) => {
      const values = pattern.exec(key)?.slice(1) ?? []
      return (
        values.length > 0 &&
        values.every((value, at) => (beginsWithKey && at === 0 ? named.has(value) : isKnown(value)))
      )
    })
  const isUsed = (key: string): boolean => named.has(key) || isMade(key)
  return keys.filter((key) => !isUsed(key) && !isUsed(key.replace(/_(?:one|other)$/, '')))
}

describe('no text of pages stands outside the catalogue', () => {
  /** The names of browsers and systems are no texts. */
  const NAMES: readonly string[] = ['Android']

  test('in a template, between the tags or in an attribute', () => {
    const found = [...readSources('src/web/**/*.ts')].flatMap(([file, source]) =>
      piecesOf(source).markup.flatMap((markup) => wordsOf(markup).map((words) => `${file}: ${words}`)),
    )
    assert.deepEqual(found, [])
  })

  test('as a string in a file with templates', () => {
    const found = [...readSources('src/web/**/*.ts')].flatMap(([file, source]) =>
      sentencesOf(source).map((text) => `${file}: ${text}`),
    )
    assert.deepEqual(
      found.filter((line) => !NAMES.some((name) => line.endsWith(`: ${name}`))),
      [],
    )
  })

  test('and each of them would be found', () => {
    const source = [
      "// it's a comment with ` and html`",
      'const quote = (text) => text.replace(/[`\'"]/g, "`")',
      'const a = html`<p class="about">${b && html`<b>Hello</b>`}</p>${c({ d: `x${e}` })}`',
      'const f = html`<img alt="A dog" src="${g}"> &#183; ${t("login.title")}`',
      "const texts = { save: 'Save', about: `Your name is ${name}.` }",
      "throw new AppError('gone', 'The link is old.')",
      'const h = html` required`',
    ].join('\n')
    const { markup } = piecesOf(source)
    assert.equal(markup.length, 4)
    assert.deepEqual(markup.flatMap(wordsOf), ['Hello', '"A dog"'])
    assert.deepEqual(sentencesOf(source), ['Save', `Your name is ${VALUE}.`])
  })
})

describe('the catalogue', () => {
  test('has no text that nothing shows', () =>
    assert.deepEqual(
      unusedOf(
        Object.keys(en).filter((key) => !COMING.test(key)),
        [...readSources('src/**/*.ts').values()],
      ),
      [],
    ))

  test('and one would be found', () => {
    const sources = [
      "t('a.b')",
      't.plural("c.d", 2)',
      't(`dead.${state}_why`)',
      "const states = ['used']",
      't(`${key}_x`)',
    ]
    const used = ['a.b', 'c.d_one', 'c.d_other', 'dead.used_why', 'a.b_x']
    assert.deepEqual(unusedOf([...used, 'a.c', 'dead.old_why', 'dead.used', 'a.c_x'], sources), [
      'a.c',
      'dead.old_why',
      'dead.used',
      'a.c_x',
    ])
  })

  test('fills every place of every state, however the service is set up', () => {
    const states = Object.entries(statesWith('text'))
    for (const passwords of [true, false])
      for (const supportUrl of [undefined, 'mailto:help@example.com'])
        for (const mailIsOn of [true, false]) {
          const pages = createAllPages({ ...branding, passwords, supportUrl, mailIsOn, passkeys: true, clients: true })
          for (const [name, render] of states) assert.doesNotMatch(render(pages), /\{\w+\}/, name)
        }
  })
})

test('every failure that a user can see has its own text', () => {
  const pages = createAllPages(branding)
  const titles = [400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 429, 500, 503].map(
    (status) =>
      /<h1>(.*)<\/h1>/.exec(pages.error({ status, message: 'm', requestId: 'r', retryAfterSeconds: undefined }))?.[1],
  )
  assert.equal(new Set(titles).size, 14)
  assert.ok(!titles.includes(undefined))
})

test('everything that is recorded about an account has a text for its user', () =>
  assert.deepEqual(
    AUDIT_TYPES.filter((type) => !shownActivity.includes(type)),
    [
      'user.deleted',
      'user.viewed',
      'audit.exported',
      'administrator.invited',
      'administrator.reset',
      'administrator.role_changed',
      'administrator.removed',
      'administrator.signed_in',
      'administrator.sign_in_failed',
      'administrator.signed_out',
      'administrator.passkey_added',
      'administrator.passkey_removed',
      'key.rotated',
      'api_key.created',
      'api_key.revoked',
      'webhook.given_up',
      'webhook.redelivered',
      'mail.resent',
      'client.created',
      'client.changed',
      'client.secret_rotated',
      'client.deleted',
      'import.added',
      'import.taken_back',
    ],
  ))

test('a wait is never shown shorter than it is', () => {
  const shown = [0, 1, 59, 60, 61, 3599, 3600, 3601].map((seconds) => waitText(seconds))
  assert.deepEqual(shown, [
    '1 second',
    '1 second',
    '59 seconds',
    '1 minute',
    '2 minutes',
    '60 minutes',
    '1 hour',
    '2 hours',
  ])
})

test('times are UTC, readable, and exact for machines', () => {
  const nowMs = Date.UTC(2026, 10, 21, 10, 47, 5)
  const time = '<time datetime="2026-11-21T10:47:05.000Z" data-time='
  assert.equal(dayOf(nowMs).toString(), `${time}"day">21 Nov 2026</time>`)
  assert.equal(momentOf(nowMs).toString(), `${time}"moment">21 Nov 2026, 10:47 UTC</time>`)
})

test('recent times are relative to now, and old ones are dates', () => {
  const nowMs = Date.UTC(2026, 10, 21, 10, 47)
  const ago = (seconds: number): string | undefined =>
    />(.*)</.exec(agoOf(nowMs - seconds * 1000, nowMs).toString())?.[1]
  assert.equal(ago(-30), 'just now')
  assert.equal(ago(59), 'just now')
  assert.equal(ago(60), '1 minute ago')
  assert.equal(ago(3 * 3600 + 5), '3 hours ago')
  assert.equal(ago(24 * 3600), 'yesterday')
  assert.equal(ago(29 * 24 * 3600), '29 days ago')
  assert.equal(ago(30 * 24 * 3600), '22 Oct 2026')
  assert.match(agoOf(nowMs - 60_000, nowMs).toString(), /title="21 Nov 2026, 10:46 UTC"/)
})
