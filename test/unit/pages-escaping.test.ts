// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type HtmlFragment, html } from '../../src/lib/html.ts'
import { createAllPages } from '../../src/preview/pages.ts'
import { statesWith, tagsOf } from './pages-views.ts'

const HOSTILE = [
  '"><script>alert(1)</script>',
  "' onfocus=alert(1) autofocus x='",
  '</title></style></textarea><svg/onload=alert(1)>',
  '<!--',
  '&lt;b&gt;&#39;',
  'javascript:alert(1)',
  '\ud800"\u0000\r\n\u2028`${1}',
]
const OF_MARKUP = fc.constantFrom(...`<>"'&;#=/!-\`\\ \n\u0000ax1`)

const hostile = fc.oneof(
  fc.string({ unit: OF_MARKUP, minLength: 1, maxLength: 40 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
)
/** Those of the list, and made-up ones. */
const RUNS = { numRuns: HOSTILE.length + 13, examples: HOSTILE.map((text): [string] => [text]) }

const branding = { appName: 'Acme', logoUrl: undefined, accentColor: '#0f6b5c', passkeys: true }

/** Tags and the names of their attributes, which no text of a user may change. */
const skeleton = (page: string): string =>
  tagsOf(page)
    .map(({ name, attributes }) => `${name} ${Object.keys(attributes).join(' ')}`)
    .join('\n')

const plainStates = statesWith('plain')

test('no text of a view becomes a tag or an attribute, on any page in any state', () => {
  const pages = createAllPages(branding)
  const expected = new Map(Object.entries(plainStates).map(([name, render]) => [name, skeleton(render(pages))]))
  fc.assert(
    fc.property(hostile, (text) => {
      for (const [name, render] of Object.entries(statesWith(text))) {
        assert.equal(skeleton(render(pages)), expected.get(name), name)
      }
    }),
    RUNS,
  )
})

test('no name of an application and no address of a logo becomes a tag or an attribute', () => {
  for (const logoUrl of [undefined, '/logo.svg']) {
    const expected = skeleton(createAllPages({ ...branding, logoUrl }).login(login('')))
    fc.assert(
      fc.property(hostile, (text) => {
        const pages = createAllPages({ ...branding, appName: text, logoUrl: logoUrl && `/logo${text}` })
        assert.equal(skeleton(pages.login(login(''))), expected)
        assert.match(pages.assets[2]?.body ?? '', /^<svg [^<>]+><rect [^<>]+\/><text [^<>]+>[^<>]+<\/text><\/svg>$/)
      }),
      RUNS,
    )
  }
})

const login = (email: string) => ({
  csrfToken: 'token',
  returnTo: undefined,
  email,
  errors: {},
  passwords: true,
  signupOpen: true,
  providers: [],
})

test('typed values are shown again unchanged', () => {
  const pages = createAllPages(branding)
  fc.assert(
    fc.property(hostile, (typed) => {
      const input = tagsOf(pages.login(login(typed))).find(({ attributes }) => attributes.name === 'email')
      assert.equal(input?.attributes.value, typed)
    }),
    { examples: RUNS.examples },
  )
})

// Like a caller without types.
const template = (value: unknown): HtmlFragment => Reflect.apply(html, undefined, [['<p>', '</p>'], value])

test('a template refuses promises, functions and foreign objects', () => {
  const posing = { isEscaped: true, toString: () => '<script>' }
  const parsed: unknown = JSON.parse(
    '{"markup": "<script>", "Symbol(markup)": "<script>", "__proto__": {"markup": "<b>"}}',
  )
  const foreign = [
    posing,
    parsed,
    Object.assign(new String('<script>'), posing),
    Object.create(html`<br>`),
    new URLSearchParams('a=<script>'),
    Promise.resolve('<script>'),
    () => '<script>',
    Symbol('<script>'),
    new Date(0),
    1n,
    null,
  ]
  for (const value of foreign) {
    assert.throws(() => template(value), TypeError)
    assert.throws(() => template([[value]]), TypeError)
  }
  assert.equal(template(['<', html`<br>`, 1, undefined, false]).toString(), '<p>&lt;<br>1</p>')
})

test('a fragment that is turned into text is escaped like any other text', () => {
  assert.equal(template(html`<br>`.toString()).toString(), '<p>&lt;br&gt;</p>')
})
