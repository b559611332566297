// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTexts } from '../../src/languages/catalogue.ts'
import { ownEnglish } from '../../src/languages/language.ts'
import { html } from '../../src/lib/html.ts'

const t = createTexts(
  {
    'login.title': 'Log in to {app}, {app}',
    'mail.life.hours_one': 'one hour',
    'mail.life.hours_other': '{count} hours',
    'mail.life.days_other': '{count} days',
  },
  ownEnglish().formats,
)

test('values are put in once, and what was put in is not read for places', () =>
  assert.equal(t('login.title', { app: '{app} $& \\1' }), 'Log in to {app} $& \\1, {app} $& \\1'))

test('values of HTML stay as they are, and all others are escaped', () => {
  assert.equal(
    t
      .html('login.title', { app: html`<b>${'<A>'}</b>` })
      .toString()
      .includes('<b>&lt;A&gt;</b>'),
    true,
  )
  assert.equal(t.html('login.title', { app: '<A>' }).toString(), 'Log in to &lt;A&gt;, &lt;A&gt;')
})

test('a missing value or text is an error, and never an empty place', () => {
  assert.throws(() => t('login.title'), /login\.title \{app\}/)
  assert.throws(() => t('login.title', { app: undefined }), TypeError)
  assert.throws(() => t.html('login.title', {}), TypeError)
  assert.throws(() => t('mail.life.minutes_one'), /mail\.life\.minutes_one/)
})

test('plurals have the form of their number, or the general one, with the number in the words of the language', () => {
  assert.equal(t.plural('mail.life.hours', 1), 'one hour')
  assert.equal(t.plural('mail.life.hours', 1200), '1,200 hours')
  assert.equal(t.plural('mail.life.days', 1), '1 days')
})
