// Runs once, alone.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { createLanguage, inLanguage, type Language } from '../../src/languages/language.ts'
import { createLanguages } from '../../src/languages/languages.ts'

const ROOT = path.join(import.meta.dirname, '../..')

/** Throws where a text is made before it is known for whom. */
const NOBODY: Language = createLanguage('en', {})

test('no text is made while a module of pages or messages loads', async () => {
  const files = globSync('src/{web,mail,http}/**/*.ts', { cwd: ROOT })
  assert.ok(files.length > 150)
  await inLanguage(NOBODY, () => Promise.all(files.map((file) => import(path.join(ROOT, file)))))
})

// They are loaded only now, so that the test before sees the modules load.
const [{ createAllPages }, { statesWith }, { renderMessage }, { MAIL_BASE_URL, MESSAGES }] = await Promise.all([
  import('../../src/preview/pages.ts'),
  import('./pages-views.ts'),
  import('../../src/mail/messages/render.ts'),
  import('../../src/preview/messages.ts'),
])

const branding = {
  appName: '1',
  logoUrl: undefined,
  accentColor: '#0f6b5c',
  passkeys: true,
  mailIsOn: true,
  clients: true,
}
const MAIL_BRANDING = { appName: 'A', accentColor: '#0f6b5c', baseUrl: MAIL_BASE_URL, passwords: true, clients: true }
const languages = createLanguages({ offered: ['en', 'qps', 'ar', 'ja'] })
const [en, qps, ar] = ['en', 'qps', 'ar'].map((tag) => languages.get(tag))
const states = Object.entries(statesWith('22'))

/** What `Intl` writes, names and what only operators read stays as it is. */
const KEPT =
  /\b(?:UTC|Nov|Oct|Sep|yesterday|ago|in|days?|hours?|minutes?|months?|seconds?|and|or|svc|Android|Apple|Google|Microsoft|JSON|https?)\b/g

/** The words of a page that stand in no file: not in brackets, which may hold others. */
const foreignWords = (page: string): string[] => {
  let text = page
    .replaceAll(/<(style|script|title|time|code|bdi)\b[^]*?<\/\1>/g, ' ')
    .replaceAll(/<[^>]*?\b(?:alt|aria-label|title|placeholder)="([^"]*)"[^>]*>/g, ' $1 ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#?\w+;/g, ' ')
  for (let before = ''; before !== text; ) {
    before = text
    text = text.replaceAll(/\[[^[\]]*\]/g, ' ')
  }
  return text.replaceAll(KEPT, ' ').match(/\p{L}{2,}/gu) ?? []
}

/** The views of these have names and addresses, or details for developers, which are English. */
const WITH_WORDS = /^(?:consent |a request that leads nowhere: (?!request)|account with everything)/

describe('a page in the pseudo-language has no word that stands in no file', () => {
  const pages = createAllPages(branding)
  assert.ok(en && qps)
  for (const [name, render] of states)
    test(name, () => {
      const english = inLanguage(en, () => render(pages))
      const found = foreignWords(inLanguage(qps, () => render(pages)))
      if (!WITH_WORDS.test(name)) assert.deepEqual(found, [])
      assert.equal(
        inLanguage(en, () => render(pages)),
        english,
        'a page keeps nothing of the language before',
      )
    })
})

describe('a page in Arabic', () => {
  const pages = createAllPages(branding)
  assert.ok(ar)
  test('is written from right to left, with its values by themselves', () => {
    for (const [name, render] of states) {
      const page = inLanguage(ar, () => render(pages))
      assert.match(page, /<html lang="ar" dir="rtl">/, name)
      assert.doesNotMatch(page, /\{\w+\}/, name)
    }
    const logout = inLanguage(ar, () => states.find(([name]) => name === 'logout')?.[1](pages) ?? '')
    assert.match(logout, /<bdi><b>22<\/b><\/bdi>/)
  })
})

describe('every message in every language', () => {
  const all = createLanguages()
  for (const tag of all.offered)
    test(tag, () => {
      const language = all.get(tag)
      for (const [name, message] of MESSAGES) {
        const { subject, text, html } = inLanguage(language, () => renderMessage(message, MAIL_BRANDING))
        assert.match(html, new RegExp(`<html lang="${tag}" dir="${language.direction}">`), name)
        assert.doesNotMatch(subject, /[\p{Cc}\u202A-\u202E]/u, name)
        for (const part of [subject, text, html]) assert.doesNotMatch(part, /\{(?!app)\w+\}/, name)
      }
    })
})
