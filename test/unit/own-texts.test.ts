// Runs once.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { inLanguage } from '../../src/languages/language.ts'
import { createLanguages } from '../../src/languages/languages.ts'
import { readOwnTexts } from '../../src/languages/own-texts.ts'
import { t } from '../../src/languages/texts.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const folderWith = (context: TestContext, files: Record<string, string | object>): string => {
  const folder = temporaryDirectory(context)
  for (const [name, content] of Object.entries(files))
    writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  return folder
}

const errorsOf = (context: TestContext, files: Record<string, string | object>, scopes?: string[]): string[] => {
  const folder = folderWith(context, files)
  return readOwnTexts(folder, { scopes }).errors.map((line) => line.replace(`${folder}/`, ''))
}

describe('a mistake in a file of own texts names the file, the line and the key', () => {
  const mistakes: [string, object, string][] = [
    [
      'an unknown key, with the nearest',
      { 'login.titel': 'x' },
      'de.json:2: login.titel is no key; did you mean login.title?',
    ],
    [
      'a form that the language has not',
      { 'mail.life.hours_few': '{count}' },
      'de.json:2: mail.life.hours_few is no key; did you mean mail.life.hours_one?',
    ],
    ['a missing place', { 'common.home': 'x' }, 'de.json:2: common.home lacks the place {app}'],
    [
      'an unknown place',
      { 'common.home': '{app} {aap}' },
      'de.json:2: common.home has the unknown place {aap}; did you mean {app}?',
    ],
    [
      'a place where there is none',
      { 'login.title': '{app}' },
      'de.json:2: login.title has the unknown place {app}: it has none',
    ],
    [
      'a brace',
      { 'login.title': 'a { b' },
      'de.json:2: login.title has a brace that belongs to no place such as {app}',
    ],
    [
      'HTML',
      { 'login.title': 'a <b>b</b>' },
      'de.json:2: login.title has HTML: texts are plain, and are escaped where they are shown',
    ],
    [
      'an entity',
      { 'login.title': 'a &amp; b' },
      'de.json:2: login.title has HTML: texts are plain, and are escaped where they are shown',
    ],
    [
      'a line break',
      { 'login.title': 'a\nb' },
      'de.json:2: login.title has the character U+000A: control and direction characters are not accepted',
    ],
    [
      'a direction',
      { 'login.title': 'a\u202Eb' },
      'de.json:2: login.title has the character U+202E: control and direction characters are not accepted',
    ],
    ['nothing', { 'login.title': ' ' }, 'de.json:2: login.title is empty'],
    ['a number', { 'login.title': 7 }, 'de.json:2: login.title must be a text in quotation marks'],
    [
      'an unknown scope',
      { 'scope.notes:raed': 'x' },
      'de.json:2: scope.notes:raed is no key; did you mean scope.notes:read?',
    ],
  ]
  for (const [what, file, expected] of mistakes)
    test(what, (context) => assert.deepEqual(errorsOf(context, { 'de.json': file }, ['notes:read']), [expected]))

  test('a key that is there twice', (context) =>
    assert.deepEqual(errorsOf(context, { 'de.json': '{\n"login.title": "a",\n"login.title": "b"}' }), [
      'de.json:3: login.title is there twice',
    ]))

  test('what is no JSON, and what is not flat', (context) => {
    const [missingComma] = errorsOf(context, { 'de.json': '{\n"login.title": "a"\n"login.forgot": "b"}' })
    assert.match(missingComma ?? '', /^de\.json:3: this is no member of a flat JSON object/)
    assert.match(errorsOf(context, { 'de.json': '[]' })[0] ?? '', /^de\.json:1: this is no JSON object/)
    assert.match(
      errorsOf(context, { 'de.json': '{"login": {"title": "a"}}' })[0] ?? '',
      /^de\.json:1: this is no member/,
    )
  })

  test('a file that is named like no language', (context) => {
    const errors = errorsOf(context, { 'pt_br.json': {}, 'notes.txt': '', '.hidden': '', 'de.json': {} })
    assert.equal(errors.length, 2)
    assert.match(errors[0] ?? '', /^notes\.txt: a file is named for the tag/)
    assert.match(errors[1] ?? '', /^pt_br\.json: .* did you mean pt-BR\.json\?$/)
  })

  test('a folder that is not there', () =>
    assert.match(readOwnTexts('/nowhere/at/all').errors[0] ?? '', /cannot be read \(ENOENT\)/))
})

test('a renamed key is taken, and named in a warning', (context) => {
  const folder = folderWith(context, { 'de.json': { 'login.old': 'Los' } })
  const { texts, errors, warnings } = readOwnTexts(folder, { renamed: { 'login.old': 'login.title' } })
  assert.deepEqual([errors, texts.get('de')], [[], { 'login.title': 'Los' }])
  assert.match(warnings.join(), /de\.json:2: login\.old is named login\.title now/)
})

describe('own texts', () => {
  test('are laid over ours key by key, and a place in a value is not read', (context) => {
    const { texts: own } = readOwnTexts(folderWith(context, { 'en.json': { 'common.home': 'Off to {app}' } }))
    const languages = createLanguages({ own })
    inLanguage(languages.get('en'), () => {
      assert.equal(t('common.home', { app: '{email}' }), 'Off to {email}')
      assert.equal(t('login.title'), 'Log in')
    })
    assert.equal(t('login.title'), 'Log in')
    assert.equal(t('common.home', { app: 'A' }), 'Go to A')
  })

  test('add a language, with its plurals, and English for what is missing', (context) => {
    const cs = {
      'login.title': 'Přihlásit',
      'activity.times_few': '{count}krát',
      'activity.times_other': '{count} krát',
    }
    const { texts: own, errors } = readOwnTexts(folderWith(context, { 'cs.json': cs }))
    assert.deepEqual(errors, [])
    const languages = createLanguages({ own })
    assert.equal(languages.negotiate({ acceptLanguage: 'cs-CZ' }).tag, 'cs')
    inLanguage(languages.get('cs'), () => {
      assert.equal(t('login.title'), 'Přihlásit')
      assert.equal(t.plural('activity.times', 3), '3krát')
      assert.equal(t.plural('activity.times', 5), '5 krát')
      assert.equal(t('logout.button'), 'Log out')
    })
  })

  test('of a region fall back to the language', (context) => {
    const { texts: own } = readOwnTexts(folderWith(context, { 'pt-PT.json': { 'login.title': 'Entrar já' } }))
    const languages = createLanguages({ own })
    const [ours, theirs] = ['pt-BR', 'pt-PT'].map((tag) => inLanguage(languages.get(tag), () => t('logout.button')))
    assert.equal(ours, theirs)
  })

  test('name the scopes of the application', (context) => {
    const folder = folderWith(context, { 'de.json': { 'scope.notes:read': 'Notizen lesen' } })
    const { texts: own, errors } = readOwnTexts(folder, { scopes: ['notes:read'] })
    assert.deepEqual(errors, [])
    inLanguage(createLanguages({ own }).get('de'), () =>
      assert.equal(t.added('scope.notes:read', { app: 'A' }), 'Notizen lesen'),
    )
  })
})
