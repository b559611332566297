// Runs once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { ownTags } from '../../src/languages/languages.ts'
import { findTextProblems, textKeysOf } from '../../src/languages/text-rules.ts'

const FOLDER = path.join(import.meta.dirname, '../../src/languages')

const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'he', 'it', 'ja', 'ko', 'nl', 'pl', 'pt-BR', 'tr', 'uk', 'zh-Hans']

test('svc has fifteen languages', () => assert.deepEqual(ownTags(), LANGUAGES.toSorted()))

for (const tag of ownTags())
  describe(`the texts in ${tag}`, () => {
    const source = readFileSync(path.join(FOLDER, `${tag}.json`), 'utf8')
    const catalogue = JSON.parse(source) as Record<string, string | null>

    test('have all keys and no other, in the order of English, with every form of each plural', () =>
      assert.deepEqual(Object.keys(catalogue), ['reviewed', ...textKeysOf(tag).keys()]))

    test('have the places of English, no HTML, and no control or direction characters', () => {
      const problems = [...textKeysOf(tag)].flatMap(([key, rule]) =>
        findTextProblems(catalogue[key] ?? '', rule).map((problem) => `${key} ${problem}`),
      )
      assert.deepEqual(problems, [])
    })

    test('have no key twice, and say who has read them', () => {
      assert.equal([...source.matchAll(/^ {2}"[^"]+":/gm)].length, Object.keys(catalogue).length)
      const { reviewed } = catalogue
      assert.ok(reviewed === null || (typeof reviewed === 'string' && reviewed.trim() !== ''))
    })
  })
