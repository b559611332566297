// Runs once.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { readConfig } from '../../src/config/config.ts'
import { ownTags } from '../../src/languages/languages.ts'
import { MESSAGES } from '../../src/preview/messages.ts'
import { writePreview } from '../../src/preview/preview.ts'
import { launchChrome } from '../support/browser/chrome.ts'
import { runCommand } from '../support/service/warm-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { statesWith, tagsOf } from '../unit/pages-views.ts'

const browser = await launchChrome()
after(() => browser.close())

/** The rings around a card, and its ground. */
const LOOK = `(({ outlineColor, backgroundColor }) => outlineColor + ' ' + backgroundColor)(
  getComputedStyle(document.querySelector('.svc-card')))`

const STATES = Object.keys(statesWith('text'))

test('svc preview writes every page and message in every language and scheme, with all that they need beside them', async (t) => {
  const cwd = temporaryDirectory(t)
  writeFileSync(path.join(cwd, 'own.css'), '.svc-card { outline: 3px solid rgb(1, 2, 3) }')
  const env = {
    SVC_APP_NAME: `A"><script src="/auth/assets/x"> & href="/b"`,
    SVC_BASE_URL: 'https://app.example.com',
    SVC_LOGO_URL: '/logo.svg',
    SVC_FAVICON_URL: '/icon.png',
    SVC_STYLE_FILE: 'own.css',
    SVC_LANGUAGES: 'en, qps',
  }
  const { code, stdout, stderr } = await runCommand({ args: ['preview', 'new/folder', '--json'], cwd, env })
  assert.equal(code, 0, stderr)
  assert.deepEqual(JSON.parse(stdout), {
    index: path.join('new', 'folder', 'index.html'),
    pages: 4 * STATES.length,
    messages: 4 * MESSAGES.size,
  })
  const folder = path.join(cwd, 'new/folder')
  const assets = readdirSync(path.join(folder, 'assets'))
  for (const part of ['en/light', 'en/dark', 'qps/light', 'qps/dark']) {
    const at = path.join(folder, part)
    const files = readdirSync(at).filter((file) => file.endsWith('.html') && file !== 'index.html')
    assert.equal(files.length, STATES.length, part)
    for (const file of files) {
      const tags = tagsOf(readFileSync(path.join(at, file), 'utf8'))
      const attributes = tags.flatMap((tag) => Object.entries(tag.attributes))
      const leads = attributes.filter(([name]) => ['href', 'src', 'srcset', 'action', 'formaction'].includes(name))
      for (const [name, value] of leads) {
        assert.match(value, /^(?:#|https?:\/\/|mailto:|\.\.\/\.\.\/assets\/)/, `${part}/${file} ${name}`)
        if (value.startsWith('..')) assert.ok(assets.includes(path.basename(value)), value)
      }
      assert.equal(attributes.find(([name]) => name === 'lang')?.[1], part.split('/')[0])
      assert.ok(!tags.some((tag) => tag.attributes.src === '/auth/assets/x'))
    }
    assert.equal(readdirSync(path.join(at, 'mail')).length, 2 * MESSAGES.size)
  }
  const page = await browser.newPage()
  await page.goto(pathToFileURL(path.join(folder, 'index.html')).href)
  await page.getByRole('link', { name: 'English, dark' }).click()
  await page.getByRole('link', { name: 'login', exact: true }).click()
  const shown = page.frameLocator('iframe')
  await shown.locator('.svc-card').waitFor()
  const look = String(await page.frame({ name: 'shown' })?.evaluate(LOOK))
  assert.match(look, /^rgb\(1, 2, 3\) rgb\(\d\d, \d\d, \d\d\)$/)
  assert.equal(await shown.locator('.brand img').getAttribute('src'), 'https://app.example.com/logo.svg')
  await page.close()
})

test('svc preview has every language that there is, one scheme where the settings have one, and refuses a folder with anything in it', (t) => {
  const folder = temporaryDirectory(t)
  const config = readConfig({ SVC_COLOR_SCHEME: 'dark' }, () => '')
  assert.equal(writePreview(config, path.join(folder, 'a')).pages, ownTags().length * STATES.length)
  assert.deepEqual(readdirSync(path.join(folder, 'a')).toSorted(), ['assets', ...ownTags(), 'index.html'].toSorted())
  assert.deepEqual(readdirSync(path.join(folder, 'a/en')), ['dark'])
  assert.throws(() => writePreview(config, folder), /is not empty: name a folder that is, or that does not exist yet$/)
  assert.deepEqual(readdirSync(folder), ['a'])
  writeFileSync(path.join(folder, 'file'), '')
  assert.throws(() => writePreview(config, path.join(folder, 'file')), /cannot be used \(EEXIST\)$/)
  assert.throws(() => writePreview(config, path.join(folder, 'file/deep')), /cannot be used \(ENOTDIR\)$/)
})
