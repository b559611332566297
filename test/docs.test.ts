// Runs once.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { CONFIGURATION_FILE, configurationPage } from '../scripts/docs.ts'
import { importTable } from '../scripts/imports.ts'
import { findProviderName, listProviderSettings, PROVIDER_SETTINGS } from '../src/config/provider-settings.ts'
import { SETTINGS } from '../src/config/settings.ts'
import { createUserAgent } from './support/client/user-agent.ts'
import { startService } from './support/service/service.ts'

const ROOT = path.join(import.meta.dirname, '..')

const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8')

const documents = globSync(
  ['*.md', 'docs/**/*.md', 'deploy/**/*.md', '{bench,test}/README.md', 'sdk/README.md', 'sdk/docs/*.md'],
  {
    cwd: ROOT,
  },
)

const citing = globSync(['*.md', 'docs/**/*.md', '{src,test}/**/*.{ts,js}'], {
  cwd: ROOT,
  exclude: ['**/node_modules', 'test/docs.test.ts'],
})

/** Links of a document that lead to nothing, as `document: target`. Addresses elsewhere are not looked at. */
const findBrokenLinks = (name: string, text: string): string[] =>
  [...text.matchAll(/(?:\]\(|\b(?:src|srcset)=")(?!https?:|mailto:|\/auth\/)([^)"\s#]*)(?:#([\w-]+))?[)"]/g)].flatMap(
    ([, target = '', anchor]) => {
      const file = target === '' ? name : path.join(path.dirname(name), target)
      if (!existsSync(path.join(ROOT, file))) return [`${name}: ${target}`]
      const isThere = anchor === undefined || anchorsOf(target === '' ? text : read(file)).includes(anchor)
      return isThere ? [] : [`${name}: ${target}#${anchor}`]
    },
  )

/** The anchors of a document's headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )

/**
 * Files that a document names and that are not there, as `document: file`. `src/` and its own folder may be left out.
 */
const findMissingFiles = (name: string, text: string): string[] =>
  [...text.matchAll(/`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|js|json|md|sh|sql|txt))`/g)]
    .map(([, file = '']) => file)
    .filter((file) => !['', 'src', path.dirname(name)].some((folder) => existsSync(path.join(ROOT, folder, file))))
    .map((file) => `${name}: ${file}`)

/** Settings that a document names and svc does not have; `<NAME>` stands for any provider. */
const findUnknownSettings = (name: string, text: string): string[] =>
  [...text.matchAll(/\bSVC_(?:OAUTH_<NAME>_)?[A-Z0-9_]*[A-Z0-9]\b/g)]
    .map(([setting]) => setting)
    .filter((setting) => !/^SVC_(?:TEST|BENCH)_/.test(setting) && !isSetting(setting.replace('<NAME>', 'ANY')))
    .map((setting) => `${name}: ${setting}`)

/** Variables of applications and of the SDK. */
const OF_SDK = ['SVC_API_KEY', 'SVC_BIN', 'SVC_NODE', 'SVC_URL']

const isSetting = (variable: string): boolean => {
  if (OF_SDK.includes(variable)) return true
  const provider = findProviderName(variable)
  const settings = [...Object.values(SETTINGS), ...(provider === undefined ? [] : listProviderSettings(provider))]
  return settings.some(
    ({ name, secret }: { name: string; secret?: boolean }) =>
      variable === name || (secret && variable === `${name}_FILE`),
  )
}

const NUMBERS = ['Zero', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten']

/** Sentences such as "Two more can appear:" above a table or list that has more or fewer, as `document: sentence`. */
const findMiscounted = (name: string, text: string): string[] =>
  [...text.matchAll(/^([A-Z][a-z]+) (?:.+\n)*?.*:\n\n((?:\|.*\n|- .*\n|\d\. .*\n| {2,}.*\n)+)/gm)]
    .filter(([, number = '']) => NUMBERS.includes(number))
    .filter(([, number = '', block = '']) => {
      const rows = block.match(/^(?:\| (?!---)|- |\d\. )/gm)?.length ?? 0
      return NUMBERS.indexOf(number) !== (block.startsWith('|') ? rows - 1 : rows)
    })
    .map(([sentence]) => `${name}: ${sentence.split('\n', 1)[0]}`)

/** Numbers of a document's headings, as in `## 4. Routes` and `### 4.2 Browser routes`. */
const sectionsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (\d+(?:\.\d+)*)\.? /gm)].map(([, number = '']) => number)

/** Sections cited as `CONTRACT.md 4.2`, `CONTRACT.md 4.1 and 4.2` or `§4.2` that do not exist. A comment may wrap. */
const findUnknownSections = (name: string, text: string, sections: readonly string[]): string[] =>
  [...text.matchAll(/CONTRACT\.md(?:[\s*/]+(?:(?:and|to)\s+)?\d+(?:\.\d+)*\b,?)+|§\d+(?:\.\d+)*/g)]
    .flatMap(([citation]) => [...citation.matchAll(/\d+(?:\.\d+)*/g)].map(([number]) => number))
    .filter((number) => !sections.includes(number))
    .map((number) => `${name}: ${number}`)

describe('the documents', () => {
  test('docs/configuration.md is what "npm run docs" writes', () => {
    assert.equal(readFileSync(CONFIGURATION_FILE, 'utf8'), configurationPage(), 'stale: run "npm run docs"')
  })

  test('docs/architecture.md has the table of imports that is enforced', () => {
    const document = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8')
    assert.ok(document.includes(importTable()), 'stale: run "npm run docs"')
  })

  test('every setting has its row in the reference', () => {
    const rows = configurationPage()
    for (const { name, description } of Object.values(SETTINGS)) {
      assert.match(rows, new RegExp(String.raw`^\| \`${name}\`.* \|`, 'm'))
      assert.ok(rows.includes(description), name)
    }
  })

  test('every setting of a provider has its row in the reference; one that only one provider has, under the name of that provider', () => {
    const rows = configurationPage()
    for (const { ending, only, description } of Object.values<{ ending: string; only?: string; description: string }>(
      PROVIDER_SETTINGS,
    )) {
      const name = `SVC_OAUTH_${only?.toUpperCase() ?? '<NAME>'}_${ending}`
      assert.ok(
        rows.split('\n').some((line) => line.startsWith(`| \`${name}\``) && line.includes(description)),
        name,
      )
    }
  })

  test('every link between them has a target', () => {
    assert.deepEqual(
      documents.flatMap((name) => findBrokenLinks(name, read(name))),
      [],
    )
  })

  test('a broken link is found', () => {
    const text = '# One thing\n[a](README.md) [b](gone.md) [c](#one-thing) [d](#two) <img src="docs/gone.png">'
    assert.deepEqual(findBrokenLinks('README.md', text), [
      'README.md: gone.md',
      'README.md: #two',
      'README.md: docs/gone.png',
    ])
  })

  test('what a sentence announces in a number is what its table or list has', () => {
    assert.deepEqual(
      documents.flatMap((name) => findMiscounted(name, read(name))),
      [],
    )
    const table = '| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n'
    const text = `Two can be:\n\n${table}\nThree more,\nat least:\n\n${table}\nOne is:\n\n- a\n- b\n`
    assert.deepEqual(findMiscounted('x.md', text), ['x.md: Three more,', 'x.md: One is:'])
  })

  test('decisions that hold, and guides for developers, name files that exist', () => {
    const named = documents
      .filter((name) => /^docs\/(?:decisions\/|debugging)|^CONTRIBUTING|^test\//.test(name))
      .filter((name) => !/^- Status: superseded by/m.test(read(name)))
    assert.deepEqual(
      named.flatMap((name) => findMissingFiles(name, read(name))),
      [],
    )
    assert.deepEqual(
      findMissingFiles('x.md', '`main.ts`, `src/main.ts`, `package.json`, `users/gone.ts`, `*-store.ts`'),
      ['x.md: users/gone.ts'],
    )
  })

  test('they name only settings that exist', () => {
    const own = documents.filter((name) => !name.startsWith('docs/decisions/'))
    assert.deepEqual(
      own.flatMap((name) => findUnknownSettings(name, read(name))),
      [],
    )
    assert.deepEqual(findUnknownSettings('x.md', '`SVC_SECRET_FILE`, `SVC_PORT_FILE`, SVC_TEST_CHROME'), [
      'x.md: SVC_PORT_FILE',
    ])
    const ofProviders = [
      'SVC_OAUTH_<NAME>_ISSUER, SVC_OAUTH_CORP2_CLIENT_SECRET_FILE, SVC_OAUTH_APPLE_KEY_ID',
      'SVC_OAUTH_<NAME>_CLIENTID, SVC_OAUTH_CORP_KEY_ID, SVC_OAUTH_CORP_LABEL_FILE',
    ].join('\n')
    assert.deepEqual(findUnknownSettings('x.md', ofProviders), [
      'x.md: SVC_OAUTH_<NAME>_CLIENTID',
      'x.md: SVC_OAUTH_CORP_KEY_ID',
      'x.md: SVC_OAUTH_CORP_LABEL_FILE',
    ])
  })

  test('CONTRACT.md names every route of the JSON API with the statuses that it documents', async (t) => {
    const answer = await createUserAgent(await startService({ t })).get('/auth/api/v1/openapi.json')
    const { paths } = answer.json<{ paths: Record<string, Record<string, { responses: Record<string, unknown> }>> }>()
    const lines = read('CONTRACT.md')
      .split('\n')
      .filter((line) => line.startsWith('| '))
    for (const [route, operations] of Object.entries(paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        const line = lines.find((text) => text.includes(`\`${method.toUpperCase()} ${route}\``))
        assert.ok(line, `${method} ${route}`)
        for (const status of Object.keys(responses)) {
          if (status !== 'default') assert.ok(line.includes(status), `${method} ${route}: ${status}`)
        }
      }
    }
  })

  test('a citation of CONTRACT.md names a section that exists', () => {
    const sections = sectionsOf(read('CONTRACT.md'))
    assert.deepEqual(sections, [...new Set(sections)], 'a number stands for one section')
    assert.deepEqual(
      citing.flatMap((name) => findUnknownSections(name, read(name), sections)),
      [],
    )
  })

  test('a citation of a missing section is found', () => {
    const sections = sectionsOf('# Title\n## 4. Routes\n### 4.1 JSON API\n### 4.2 Browser routes\n')
    assert.deepEqual(sections, ['4', '4.1', '4.2'])
    const text =
      '/** CONTRACT.md 4.2, CONTRACT.md 4.1 and 4.3; CONTRACT.md\n * 5.9. In CONTRACT.md, 12 lines; CONTRACT.md 4. */'
    assert.deepEqual(findUnknownSections('x.ts', text, sections), ['x.ts: 4.3', 'x.ts: 5.9'])
    assert.deepEqual(findUnknownSections('x.ts', "test('§4.2 a', test(`§4.7 b`", sections), ['x.ts: 4.7'])
  })
})
