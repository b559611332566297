// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAllPages } from '../../src/preview/pages.ts'
import { statesWith, type Tag, tagsOf, WRONG_STATES } from './pages-views.ts'

const branding = { appName: 'Acme', logoUrl: undefined, accentColor: '#0f6b5c', passkeys: true }
const pages = createAllPages(branding)

const documents = Object.entries(statesWith('text')).map(([name, render]) => {
  const page = render(pages)
  return { name, page, tags: tagsOf(page) }
})

/** What is not a page for people with a state of its own: parts of the frame, a header, and a text file. */
const NO_PAGES = ['findAsset', 'withPicker', 'iconOf', 'contentSecurityPolicy', 'recoveryCodesFile']

test('every page is among the states', () => {
  const shown = new Set<string>()
  const watched = new Proxy(pages, {
    get(target, name: keyof typeof pages) {
      shown.add(name)
      return target[name]
    },
  })
  for (const render of Object.values(statesWith('text'))) render(watched)
  const names = Object.entries(pages).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))
  assert.deepEqual(
    names.filter((name) => !shown.has(name) && !NO_PAGES.includes(name)),
    [],
  )
})

/** The pages for which a user must be signed in. */
const OF_USERS = [
  'account',
  'activity',
  'devices',
  'firstFactor',
  'otherWaysIn',
  'reauthentication',
  'recoveryCodes',
  'secondFactor',
]

test('every page of a user who is signed in has a way to log out', () => {
  const seen = new Set<string>()
  for (const render of Object.values(statesWith('text'))) {
    let shown = ''
    const page = render(
      new Proxy(pages, {
        get(target, name: keyof typeof pages) {
          shown = name
          return target[name]
        },
      }),
    )
    if (!OF_USERS.includes(shown)) continue
    seen.add(shown)
    assert.match(page, /(?:href|action)="\/auth\/logout"/, shown)
  }
  assert.deepEqual([...seen].toSorted(), OF_USERS)
})

const named = (tags: Tag[], ...names: string[]): Tag[] => tags.filter(({ name }) => names.includes(name))
const having = (tags: Tag[], attribute: string): Tag[] => tags.filter(({ attributes }) => attribute in attributes)

for (const { name, page, tags } of documents) {
  test(`${name}: nothing inline, and nothing loaded but our assets`, () => {
    const ours: string[] = pages.assets.map(({ path }) => path)
    for (const { attributes } of named(tags, 'script')) assert.ok(ours.includes(attributes.src ?? ''))
    for (const { attributes } of named(tags, 'link')) assert.ok(ours.includes(attributes.href ?? ''))
    assert.equal(named(tags, 'style', 'iframe', 'object', 'base').length, 0)
    const attributes = tags.flatMap((tag) => Object.keys(tag.attributes))
    assert.deepEqual(
      attributes.filter((attribute) => attribute.startsWith('on') || attribute === 'style'),
      [],
    )
  })

  test(`${name}: one heading, one main part, ids that are unique and references that lead somewhere`, () => {
    const ids = having(tags, 'id').map(({ attributes }) => attributes.id ?? '')
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(named(tags, 'h1').length, 1)
    assert.equal(named(tags, 'main').length, 1)
    for (const reference of ['for', 'aria-describedby', 'aria-labelledby', 'data-shows']) {
      const targets = having(tags, reference).flatMap(({ attributes }) => (attributes[reference] ?? '').split(' '))
      for (const target of targets) assert.ok(ids.includes(target), `${reference} ${target}`)
    }
  })

  test(`${name}: every field has its label, every form its token`, () => {
    const labelled = new Set(named(tags, 'label').map(({ attributes }) => attributes.for))
    const seen = named(tags, 'input').filter(({ attributes }) => attributes.type !== 'hidden')
    for (const { attributes } of seen) {
      assert.ok(labelled.has(attributes.id) || attributes['aria-hidden'] === 'true', attributes.name)
      assert.ok(attributes.autocomplete || attributes.type === 'checkbox')
    }
    const forms = named(tags, 'form')
    for (const { attributes } of forms) {
      assert.equal(attributes.method, 'post')
      assert.match(attributes.action ?? '', /^\/auth\//)
    }
    assert.equal(tags.filter(({ attributes }) => attributes.name === 'csrf_token').length, forms.length)
  })

  test(`${name}: one first button at most, and a sign if there is nothing to fill in`, () => {
    const having = (word: string) => tags.filter(({ attributes }) => attributes.class?.split(' ').includes(word))
    const firsts = having('first')
    assert.ok(firsts.length <= 1, firsts.map(({ attributes }) => attributes.href ?? 'button').join())
    for (const { attributes } of ['first', 'second', 'danger'].flatMap(having))
      assert.match(attributes.class ?? '', /^svc-button /)
    const fields = named(tags, 'input').filter(({ attributes }) => !['hidden', undefined].includes(attributes.type))
    const isForm = fields.some(({ attributes }) => attributes['aria-hidden'] !== 'true')
    const signs = having('sign')
    // A notice has a sign of its own, and so has each provider and passkey.
    const others = [...having('box'), ...having('tile'), ...named(tags, 'img', 'svg')]
    assert.ok(isForm || signs.length + others.length > 0)
    if (isForm) assert.equal(signs.length, 0)
    assert.ok(signs.length <= 1)
    for (const svg of having('icon')) assert.equal(svg.attributes['aria-hidden'], 'true')
  })

  const focusedId = WRONG_STATES[name]
  test(`${name}: ${focusedId ? 'the title says that there is an error, and the focus is on it' : 'no error is reported'}`, () => {
    const alerts = tags.filter(({ attributes }) => attributes.role === 'alert')
    const [focused, ...others] = having(tags, 'autofocus')
    assert.equal(others.length, 0)
    assert.equal(page.includes('<title>Error: '), Boolean(focusedId))
    assert.equal(alerts.length > 0, Boolean(focusedId))
    if (focusedId) assert.equal(focused?.attributes.id, focusedId)
  })
}

test('no name or id hides what the scripts ask of the document or of a form', () => {
  const scripts = pages.assets.filter(({ path }) => path.endsWith('.js'))
  const asked = scripts.flatMap(({ body }) => [...body.matchAll(/\b(?:document|form)\.(\w+)/g)].map(([, name]) => name))
  assert.ok(asked.includes('querySelector') && asked.includes('elements') && asked.includes('hidden'))
  const given = documents.flatMap(({ tags }) => tags.flatMap(({ attributes }) => [attributes.name, attributes.id]))
  assert.ok(given.includes('csrf_token'))
  assert.deepEqual(
    asked.filter((name) => given.includes(name)),
    [],
  )
})

test('each password field hides what is typed, may be pasted into, and is filled by password managers', () => {
  const fields = documents.flatMap(({ tags }) =>
    named(tags, 'input').filter((tag) => tag.attributes.name?.includes('password')),
  )
  assert.ok(fields.length > 10)
  for (const { attributes } of fields) {
    assert.equal(attributes.type, 'password', attributes.name)
    assert.match(attributes.autocomplete ?? '', /^(?:current|new)-password$/, attributes.name)
  }
  for (const { path, body } of pages.assets.filter((asset) => asset.path.endsWith('.js')))
    assert.doesNotMatch(body, /paste|clipboardData|readText/i, path)
})

test('return_to is kept in the forms and in the links between login and signup', () => {
  const returnTo = '/a?b=c&d=ü#e'
  const view = { csrfToken: 'token', returnTo, email: '', errors: {}, providers: [{ name: 'acme', label: 'Acme' }] }
  const shown = [
    pages.login({ ...view, passwords: true, signupOpen: true }),
    pages.signup({ ...view, username: '', acceptedDomains: [], byPassword: true, closed: false }),
  ]
  for (const [page, other] of [
    [shown[0], '/auth/signup'],
    [shown[1], '/auth/login'],
  ] as const) {
    const tags = tagsOf(page ?? '')
    const hidden = tags.filter(({ attributes }) => attributes.name === 'return_to')
    assert.deepEqual(
      hidden.map(({ attributes }) => attributes.value),
      [returnTo, returnTo],
    )
    const link = named(tags, 'a').find(({ attributes }) => attributes.href?.startsWith(other))
    const url = new URL(link?.attributes.href ?? '', 'http://localhost')
    assert.equal(url.searchParams.get('return_to'), returnTo)
  }
})

const entryLinksOf = (page: string): string[] =>
  named(tagsOf(page), 'a')
    .map(({ attributes }) => attributes.href ?? '')
    .filter((href) => /^\/auth\/(?:login|signup|password)/.test(href))

test('pages that know the email carry it in their links to login, signup and forgotten passwords', () => {
  const email = 'sam@example.com'
  for (const page of [
    pages.checkMail({ email, after: 'signup', returnTo: undefined }),
    pages.checkMail({ email, after: 'login', returnTo: undefined }),
    pages.emailTaken({ email }),
  ]) {
    assert.ok(entryLinksOf(page).length > 0)
    for (const href of entryLinksOf(page)) assert.match(href, /\?email=sam@example\.com$/)
  }
})

const waysOf = (page: string) =>
  named(tagsOf(page), 'a')
    .filter(({ attributes }) => attributes.class !== 'brand')
    .map(({ attributes }) => attributes.href)

test('a user who pressed a button of an old page can start again and keeps return_to', () => {
  const failure = { status: 403, message: 'Refused', requestId: 'r-1', retryAfterSeconds: undefined }
  const asToday = waysOf(pages.error(failure))
  assert.deepEqual(asToday, ['/', '/auth/account'])
  const withStart = waysOf(pages.error({ ...failure, returnTo: '/a?b=c&d' }))
  assert.deepEqual(withStart, ['/auth/login?return_to=%2Fa%3Fb%3Dc%26d', ...asToday])
})

const completion = (name: string): string[] =>
  named(documents.find((document) => document.name === name)?.tags ?? [], 'input').flatMap(
    ({ attributes }) => attributes.autocomplete ?? [],
  )

test('a password manager finds the field for the login, and the password right after it', () => {
  assert.deepEqual(completion('login'), ['username webauthn', 'current-password'])
  assert.deepEqual(completion('signup'), ['username', 'new-password', 'nickname'])
  assert.deepEqual(completion('account'), [
    'email',
    'name',
    'nickname',
    'username',
    'current-password',
    'new-password',
    'current-password',
  ])
})

test('a browser refuses nothing that the service accepts', () => {
  for (const { tags } of documents) {
    const passwords = tags.filter(({ attributes }) => attributes.type === 'password')
    assert.equal(having(passwords, 'maxlength').length + having(tags, 'pattern').length, 0)
    if (passwords.length > 0) assert.ok(having(tags, 'novalidate').length > 0)
  }
})

test('all that a first visit to the login page loads is no more than 14 KB, as it is sent', () => {
  const login = pages.login({
    csrfToken: 'x'.repeat(64),
    returnTo: undefined,
    email: '',
    errors: {},
    providers: [],
    passwords: true,
    signupOpen: true,
  })
  const loaded = pages.assets.filter(({ path }) => login.includes(path))
  assert.equal(loaded.length, 4)
  // A page has secrets, and is not compressed.
  const sent = loaded.reduce((sum, { gzipped }) => sum + gzipped().length, Buffer.byteLength(login))
  assert.ok(sent <= 14 * 1024, String(sent))
})

test('all that the page with the most to load loads is no more than 12 KB, compressed', () => {
  const rows = ['/auth/assets/account.css']
  const sizes = Object.entries({ 'login with providers': [], 'account with passkeys': rows }).map(([name, more]) => {
    const tags = documents.find((document) => document.name === name)?.tags ?? []
    const loaded = new Set(tags.flatMap(({ attributes: { src = '', href = '' } }) => [src, href]))
    const files = pages.assets.filter(({ path }) => loaded.has(path))
    assert.deepEqual(
      files
        .filter(({ contentType }) => !contentType.startsWith('image/'))
        .map(({ path }) => path.replace(/\..*\./, '.')),
      ['/auth/assets/style.css', '/auth/assets/page.js', '/auth/assets/passkeys.js', ...more],
    )
    return files.reduce((sum, { gzipped }) => sum + gzipped().length, 0)
  })
  assert.ok(Math.max(...sizes) <= 12 * 1024, String(sizes))
})

test('where there are no passkeys, no page has a trace of them', () => {
  const without = createAllPages({ ...branding, passkeys: false })
  for (const [name, render] of Object.entries(statesWith('text')))
    if (/^(?:login|reset|undo|invitation|re-authentication)/.test(name))
      assert.doesNotMatch(render(without), /data-passkey|passkeys\.|webauthn|noscript/, name)
  assert.doesNotMatch(without.contentSecurityPolicy(['app.example.com']), /connect-src/)
})

test('an asset is named by its content', () => {
  const other = createAllPages({ ...branding, accentColor: '#aa0000' })
  const paths = pages.assets.map(({ path }) => path)
  assert.deepEqual(
    paths.map((path) => path.replace(/[0-9a-f]{12}/, '#')),
    [
      '/auth/assets/style.#.css',
      '/auth/assets/page.#.js',
      '/auth/assets/icon.#.svg',
      '/auth/assets/passkeys.#.js',
      '/auth/assets/account.#.css',
      ...['google', 'github', 'microsoft', 'apple', 'gitlab', 'discord'].map((name) => `/auth/assets/${name}.#.svg`),
    ],
  )
  assert.deepEqual(
    other.assets.slice(0, 4).map(({ path }, index) => path === paths[index]),
    [false, true, false, true],
  )
})

const policyWith = (logoUrl: string | undefined, hosts = ['app.example.com']): string =>
  createAllPages({ ...branding, logoUrl }).contentSecurityPolicy(hosts)

test('the policy allows nothing inline, and no origin except that of the logo', () => {
  assert.equal(
    policyWith(undefined),
    "default-src 'none'; style-src app.example.com/auth/assets/; script-src app.example.com/auth/assets/; connect-src app.example.com/auth/passkeys/; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  )
  assert.match(policyWith('/logo.svg'), /img-src 'self';/)
  assert.match(policyWith('https://cdn.example:8443/logo.svg?x'), /img-src 'self' https:\/\/cdn\.example:8443;/)
  for (const logoUrl of ['javascript:alert(1)', 'data:image/svg+xml,x', 'https://a;script-src/', 'https://a,b/']) {
    assert.throws(() => policyWith(logoUrl), TypeError, logoUrl)
  }
})

const policyOf = (iconUrls: string[], formActions: string[]): string =>
  createAllPages({
    ...branding,
    logoUrl: 'https://cdn.example/logo.svg',
    providers: { iconUrls, formActions },
  }).contentSecurityPolicy(['app.example.com'])

const scriptsUnder = (...hosts: string[]): string | undefined =>
  /script-src ([^;]*);/.exec(policyWith(undefined, hosts))?.[1]

test('scripts and styles come from the folder of our assets, under each host of the page', () => {
  for (const host of ['localhost:8080', '127.0.0.1:8080', 'app.example.com', 'xn--bcher-kva.example'])
    assert.equal(scriptsUnder(host), `${host}/auth/assets/`)
  assert.equal(scriptsUnder('a.example', 'a.example', 'b.example:1'), 'a.example/auth/assets/ b.example:1/auth/assets/')
})

test('with an address as host, which a policy cannot name, they come from the origin; nothing else gets into the policy', () => {
  for (const host of ['[::1]:8080', '192.0.2.1', '10.0.0.1:8080', '', '*', '*:*', "'unsafe-inline'", 'a; script-src *'])
    assert.equal(scriptsUnder(host), "'self'", host)
  for (const host of ['a b', 'a,b', 'a/b', 'http://a', 'a:*', 'a:123456', 'a_b', '.', 'a..b'])
    assert.equal(scriptsUnder(host), "'self'", host)
})

test('with providers the policy allows the origins of their icons, and forms that redirect to other sites', () => {
  const icons = ['https://cdn.example/a.svg', '/b.svg', 'https://icons.example:8443/c.svg?x']
  assert.equal(
    policyOf(icons, ['https:', 'http://localhost:*', 'http://127.0.0.1:*']),
    "default-src 'none'; style-src app.example.com/auth/assets/; script-src app.example.com/auth/assets/; connect-src app.example.com/auth/passkeys/; img-src 'self' https://cdn.example https://icons.example:8443; form-action 'self' https: http://localhost:* http://127.0.0.1:*; frame-ancestors 'none'; base-uri 'none'",
  )
  for (const iconUrl of ['javascript:alert(1)', 'data:image/svg+xml,x', 'https://a;script-src/']) {
    assert.throws(() => policyOf([iconUrl], []), TypeError, iconUrl)
  }
  for (const source of [
    '',
    '*',
    'http:',
    "'none'",
    "https:; script-src 'unsafe-inline'",
    'https://a b',
    'javascript:',
  ]) {
    assert.throws(() => policyOf([], [source]), TypeError, source)
  }
})

test('the pages of login and signup are ASCII, which is sent in half the time', () => {
  const view = { csrfToken: 't', returnTo: '/start', email: '', errors: {}, providers: [] }
  for (const page of [
    pages.login({ ...view, passwords: true, signupOpen: true }),
    pages.signup({ ...view, username: '', acceptedDomains: [], byPassword: true, closed: false }),
  ])
    assert.equal(Buffer.byteLength(page), page.length)
})

test('a page is the same however often it is shown, and after a page with an error', () => {
  const view = {
    csrfToken: 't',
    returnTo: undefined,
    email: '',
    errors: {},
    providers: [],
    passwords: true,
    signupOpen: true,
  }
  const first = pages.login(view)
  const wrong = pages.login({ ...view, email: 'a@b.example', errors: { password: 'password_missing' } })
  assert.match(wrong, /<title>Error: Log in &#183; Acme<\/title>[^]*value="a@b\.example"/)
  assert.equal(pages.login(view), first)
  assert.match(first, /<title>Log in &#183; Acme<\/title>/)
  assert.equal(pages.login({ ...view, csrfToken: 'u' }), first.replaceAll('"t"', '"u"'))
})
