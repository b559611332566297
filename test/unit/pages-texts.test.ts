// Runs once.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { AUDIT_TYPES } from '../../src/audit/audit-event.ts'
import { shownActivity } from '../../src/web/account/activity-texts.ts'
import { waitText } from '../../src/languages/formats.ts'
import { createPages } from '../support/pages.ts'
import { texts } from '../../src/web/site/texts.ts'
import { agoOf, dayOf, momentOf } from '../../src/web/site/time-text.ts'

const folder = new URL('../../src/web/', import.meta.url)

test('every text is used by some page', () => {
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('texts.ts'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n')
  const unused = Object.keys(texts).filter((key) => !new RegExp(`\\btexts\\.${key}\\b`).test(sources))
  assert.deepEqual(unused, [])
})

test('every failure that a user can see has its own text', () => {
  const pages = createPages({ appName: 'A', logoUrl: undefined, accentColor: '#0f6b5c' })
  const titles = [400, 401, 403, 404, 405, 408, 413, 415, 429, 500, 503, 409].map(
    (status) =>
      /<h1>(.*)<\/h1>/.exec(pages.error({ status, message: 'm', requestId: 'r', retryAfterSeconds: undefined }))?.[1],
  )
  assert.equal(new Set(titles).size, 12)
  assert.ok(!titles.includes(undefined))
})

test('everything that is recorded about an account has a text for its user', () =>
  assert.deepEqual(
    AUDIT_TYPES.filter((type) => !shownActivity.includes(type)),
    [
      'user.deleted',
      'key.rotated',
      'api_key.created',
      'api_key.revoked',
      'webhook.given_up',
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
