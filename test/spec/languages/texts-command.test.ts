// Runs once.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import type { CommandResult, Environment } from '../../support/service/command.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

/** A folder in which `svc texts` runs, with files of own texts in `texts/`. */
const withTexts = (t: TestContext, files: Record<string, string | object> = {}) => {
  const cwd = temporaryDirectory(t)
  mkdirSync(path.join(cwd, 'texts'))
  const put = (name: string, content: string | object): void =>
    writeFileSync(
      path.join(cwd, 'texts', name),
      typeof content === 'string' ? content : JSON.stringify(content, null, 2),
    )
  for (const [name, content] of Object.entries(files)) put(name, content)
  const run = (args: string[], env: Environment = {}): Promise<CommandResult> =>
    runCommand({ args: ['texts', ...args], cwd, env })
  const print = async (args: string[], env?: Environment): Promise<string> => {
    const { code, stdout, stderr } = await run(args, env)
    assert.equal(code, 0, `svc texts ${args.join(' ')}\n${stdout}${stderr}`)
    return stdout
  }
  return { put, run, print }
}

interface TextRow {
  key: string
  text: string
  own: boolean
}

const find = (rows: TextRow[], name: string): TextRow | undefined => rows.find(({ key }) => key === name)

const OWN = { SVC_TEXTS: 'texts' }

describe('svc texts list', () => {
  test('has every key with its text, in the language that is named, and says which are own', async (t) => {
    const { print } = withTexts(t, { 'de.json': { 'login.title': 'Herein' } })
    const [english = [], german = []] = await Promise.all(
      [['list'], ['list', 'de']].map(
        async (args): Promise<TextRow[]> => JSON.parse(await print([...args, '--json'], OWN)),
      ),
    )
    const keys = Object.keys(JSON.parse(readFileSync('src/languages/en.json', 'utf8'))).filter(
      (key) => key !== 'reviewed',
    )
    assert.deepEqual(
      english.map(({ key }) => key),
      keys,
    )
    assert.deepEqual(find(english, 'login.title'), { key: 'login.title', text: 'Log in', own: false })
    assert.deepEqual(find(german, 'login.title'), { key: 'login.title', text: 'Herein', own: true })
    assert.equal(find(german, 'logout.button')?.text, 'Abmelden')
    assert.match(await print(['list', 'de'], OWN), /^login\.title +Herein$/m)
  })

  test('refuses what is no tag, and says nothing while the own texts are wrong', async (t) => {
    const { run } = withTexts(t, { 'de.json': { 'login.titel': 'x' } })
    const misnamed = await run(['list', '../de'])
    assert.equal(misnamed.code, 2)
    assert.match(misnamed.stderr, /the tag of a language, such as de or pt-BR/)
    const wrong = await run(['list'], OWN)
    assert.equal(wrong.code, 78)
    assert.equal(wrong.stdout, '')
    assert.match(wrong.stderr, /de\.json:2: login\.titel is no key; did you mean login\.title\?/)
  })
})

describe('svc texts check', () => {
  test('names each mistake of each file with file, line, key and nearest key, and fails', async (t) => {
    const { run } = withTexts(t, {
      'de.json': {
        'login.title': 'Herein',
        'login.titel': 'x',
        'common.home': 'x',
        'common.confirm': '{app}',
        'field.name': '<b>Name</b>',
        'field.email': 'a\u202eb',
        'field.code': ' ',
        'scope.notes:raed': 'x',
      },
      'fr.json': '{\n"login.title": "a",\n"login.title": "b"\n"login.forgot": "c"}',
      'pt_br.json': '{}',
    })
    for (const [args, env] of [
      [['check', 'texts'], { SVC_CLIENT_SCOPES: 'notes:read=Read your notes' }],
      [['check'], { ...OWN, SVC_CLIENT_SCOPES: 'notes:read=Read your notes' }],
    ] as const) {
      const { code, stdout, stderr } = await run([...args], env)
      assert.equal(code, 1, stderr)
      assert.equal(stdout, '')
      const lines = stderr.split('\n').flatMap((line) => /\b(?:de|fr|pt_br)\.json.*/.exec(line) ?? [])
      assert.deepEqual(lines, [
        'de.json:3: login.titel is no key; did you mean login.title?',
        'de.json:4: common.home lacks the place {app}',
        'de.json:5: common.confirm has the unknown place {app}: it has none',
        'de.json:6: field.name has HTML: texts are plain, and are escaped where they are shown',
        'de.json:7: field.email has the character U+202E: control and direction characters are not accepted',
        'de.json:8: field.code is empty',
        'de.json:9: scope.notes:raed is no key; did you mean scope.notes:read?',
        'fr.json:4: this is no member of a flat JSON object: "key": "text", with a comma between two',
        'fr.json:3: login.title is there twice',
        'pt_br.json: a file is named for the tag of a language (BCP 47), such as de.json or pt-BR.json; did you mean pt-BR.json?',
      ])
    }
  })

  test('counts the texts of good files, and takes hidden ones for nothing', async (t) => {
    const { print } = withTexts(t, { 'de.json': { 'login.title': 'Herein' }, 'cs.json': {}, '.DS_Store': 'x' })
    const { files } = JSON.parse(await print(['check', 'texts', '--json'])) as {
      files: { language: string; texts: number; missing: number }[]
    }
    assert.deepEqual(
      files.map(({ language, texts }) => [language, texts]),
      [
        ['cs', 0],
        ['de', 1],
      ],
    )
    assert.match(await print(['check', 'texts']), /^de: 1 own texts, \d+ others$/m)
  })

  test('says which folder it cannot read, and asks for one', async (t) => {
    const { run } = withTexts(t)
    const missing = await run(['check', 'elsewhere'])
    assert.deepEqual([missing.code, /the folder elsewhere cannot be read \(ENOENT\)/.test(missing.stderr)], [1, true])
    const none = await run(['check'])
    assert.deepEqual([none.code, /name a folder, or set SVC_TEXTS/.test(none.stderr)], [2, true])
  })
})

describe('svc texts export', () => {
  for (const [tag, title] of [
    ['pl', 'Zaloguj się'],
    ['he', 'כניסה'],
    ['cs', 'Log in'],
  ] as const)
    test(`prints a whole file of ${tag} that check finds good, and that says the same again`, async (t) => {
      const { print, put } = withTexts(t)
      const exported = await print(['export', tag])
      assert.equal((JSON.parse(exported) as Record<string, string>)['login.title'], title)
      put(`${tag}.json`, exported)
      assert.match(await print(['check', 'texts']), new RegExp(`^${tag}: \\d+ own texts, 0 others$`, 'm'))
      assert.equal(await print(['export', tag], OWN), exported, 'it is the same again')
      const listed = JSON.parse(await print(['list', tag, '--json'], OWN)) as TextRow[]
      assert.ok(listed.every(({ own }) => own))
    })

  test('has the plural forms of a language that svc does not have, and own texts', async (t) => {
    const { print } = withTexts(t, { 'cs.json': { 'login.title': 'Přihlásit' } })
    const exported = JSON.parse(await print(['export', 'cs'], OWN)) as Record<string, string>
    assert.equal(exported['login.title'], 'Přihlásit')
    for (const form of ['one', 'few', 'many', 'other']) assert.ok(exported[`mail.life.hours_${form}`], form)
    assert.equal(exported['mail.life.hours_two'], undefined)
  })
})
