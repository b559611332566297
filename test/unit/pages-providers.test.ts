// Runs once.
import type { SignInView } from '../../src/web/sign-in/ways-in.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccountView } from '../../src/web/account/account-view.ts'
import { t } from '../../src/languages/texts.ts'
import { SIGN_IN_PROBLEMS, type SignInProblem } from '../../src/oauth/errors.ts'
import { createAllPages } from '../../src/preview/pages.ts'
import type { LinkAccountView } from '../../src/web/providers/link-account-page.ts'
import type { ProviderProblemView } from '../../src/web/sign-in/provider-problem-page.ts'
import type { LinkedView } from '../../src/web/site/providers.ts'
import { type Tag, tagsOf } from './pages-views.ts'

const APPEARANCE = { appName: 'Acme', logoUrl: undefined, accentColor: '#0f6b5c' }
const pages = createAllPages(APPEARANCE)
const github = { name: 'github', label: 'GitHub' }
const google = { name: 'google', label: 'Google' }

interface Form {
  action: string | undefined
  fields: Record<string, string | undefined>
}

/** The forms of a page, each with the values of its hidden inputs and its buttons. */
const formsOf = (page: string): Form[] => {
  const forms: Form[] = []
  let open: Form | undefined
  for (const { name, attributes } of tagsOf(page)) {
    if (name === 'form') forms.push((open = { action: attributes.action, fields: {} }))
    if (name === '/form') open = undefined
    if (open && attributes.name) open.fields[attributes.name] = attributes.value
  }
  return forms
}

/** The links to other pages, but for the logo. */
const linksOf = (page: string): (string | undefined)[] =>
  tagsOf(page)
    .filter(({ name, attributes }) => name === 'a' && attributes.class !== 'brand')
    .map(({ attributes }) => attributes.href)
    .filter((href) => !href?.startsWith('#'))

const firstOf = (page: string): Tag[] =>
  tagsOf(page).filter(({ attributes }) => attributes.class === 'svc-button first')

const PROBLEMS = SIGN_IN_PROBLEMS
const RETURN_TO = '/a?b=c&d=ü#e'
const LOGIN = `/auth/login?email=sam@example.com&return_to=${encodeURIComponent(RETURN_TO)}`

const shown = (problem: SignInProblem, more: Partial<ProviderProblemView> = {}): string =>
  pages.providerProblem({
    csrfToken: 'token',
    returnTo: RETURN_TO,
    provider: github,
    problem,
    signedIn: false,
    requestId: 'r-1',
    email: 'sam@example.com',
    canSignUp: true,
    accepted: ['corp.example', 'staff.example'],
    ...more,
  })

test('every failure of a sign-in with a provider has its own text, and says what to do next', () => {
  assert.equal(PROBLEMS.length, 21)
  const titles = PROBLEMS.map((problem) => /<title>(.*)<\/title>/.exec(shown(problem))?.[1])
  assert.equal(new Set(titles).size, PROBLEMS.length)
  for (const problem of PROBLEMS) {
    for (const provider of [github, undefined]) {
      for (const email of ['sam@example.com', undefined]) {
        const page = shown(problem, { provider, email })
        assert.doesNotMatch(page.replace(/<[^>]*>/g, ''), /undefined|oauth|identity provider/i, problem)
        assert.equal(firstOf(page).length, 1, problem)
        assert.match(page, /<code>r-1<\/code>/)
      }
    }
  }
})

test('if another attempt makes sense, the page offers it first and keeps all parameters', () => {
  const retried = PROBLEMS.filter((problem) => formsOf(shown(problem)).length > 0)
  assert.deepEqual(
    PROBLEMS.filter((problem) => !retried.includes(problem)),
    [
      'email_missing',
      'email_unverified',
      'email_reserved',
      'signup_closed',
      'disabled',
      'logged_out',
      'last_way',
      'no_proof',
    ],
  )
  for (const problem of retried) {
    assert.deepEqual(formsOf(shown(problem)), [
      { action: '/auth/oauth/github', fields: { csrf_token: 'token', return_to: RETURN_TO } },
    ])
    // A provider account of another user still belongs to that user after another attempt.
    assert.equal(firstOf(shown(problem))[0]?.name, problem === 'linked_elsewhere' ? 'a' : 'button', problem)
    assert.deepEqual(linksOf(shown(problem)), [LOGIN])
  }
  const elsewhere = shown('linked_elsewhere', { intent: 'link', signedIn: true, returnTo: undefined })
  assert.equal(firstOf(elsewhere)[0]?.attributes.href, '/auth/account')
  assert.deepEqual(formsOf(elsewhere)[0]?.fields, { csrf_token: 'token', intent: 'link' })
  const proving = shown('cancelled', { pending: 'sealed', returnTo: undefined })
  assert.deepEqual(formsOf(proving)[0]?.fields, { csrf_token: 'token', pending: 'sealed' })
  assert.match(shown('unreachable', { retryAfterSeconds: 5 }), /Try again in 5 seconds\./)
})

test('no heading takes more than two lines of a small phone', () => {
  for (const problem of PROBLEMS)
    assert.match(t(`provider.${problem}.title`, { provider: 'GitHub' }), /^.{1,18}( .{1,18})?$/)
})

test('a user without a verified email at the provider is sent to an account with a password', () => {
  for (const problem of ['email_missing', 'email_unverified'] as const) {
    assert.deepEqual(linksOf(shown(problem)), [LOGIN.replace('login', 'signup'), LOGIN])
  }
})

test('where accounts come from providers alone, that user corrects the email there and tries again', () => {
  for (const problem of ['email_missing', 'email_unverified'] as const) {
    const page = shown(problem, { canSignUp: false })
    assert.deepEqual(linksOf(page), [LOGIN])
    assert.equal(firstOf(page)[0]?.name, 'button')
    assert.match(page, /(?:at GitHub|there), then try again\./)
  }
})

test('an email of another domain: the page names the domains that are accepted', () =>
  assert.match(
    shown('email_domain_not_accepted'),
    /Choose another GitHub account, with an address at corp\.example or staff\.example\./,
  ))

test('a signed-in user is sent back to the account, or to the page for re-authentication', () => {
  for (const problem of PROBLEMS) {
    assert.deepEqual(linksOf(shown(problem, { signedIn: true })), ['/auth/account'], problem)
    const confirming = shown(problem, { signedIn: true, intent: 'confirm' })
    assert.deepEqual(linksOf(confirming), ['/auth/account/confirm'], problem)
  }
})

const linkAccount: LinkAccountView = {
  csrfToken: 'token',
  provider: github,
  email: 'sam@example.com',
  pending: 'sealed',
  hasPassword: true,
  providers: [google],
  canReclaim: true,
  returnTo: RETURN_TO,
  errors: {},
}
const PENDING = { csrf_token: 'token', pending: 'sealed' }

test('an account is linked with its password or a connected provider, or reclaimed by its email', () => {
  const page = pages.linkAccount(linkAccount)
  assert.deepEqual(formsOf(page), [
    { action: '/auth/oauth/github/link', fields: { ...PENDING, password: undefined } },
    { action: '/auth/oauth/google', fields: PENDING },
    { action: '/auth/oauth/github/claim', fields: PENDING },
  ])
  assert.match(page, /<b>sam@example\.com<\/b> already has an account\. Show that it’s yours to connect GitHub\./)
  assert.match(page, /<details>/)
  assert.deepEqual(linksOf(page), [LOGIN.replace('email=sam@example.com&', '')])
})

test('the page for linking offers only the methods that the account has', () => {
  const actions = (more: Partial<LinkAccountView>) =>
    formsOf(pages.linkAccount({ ...linkAccount, ...more })).map(({ action }) => action)
  const [byPassword, byGoogle, byReclaim] = actions({})
  assert.deepEqual(actions({ canReclaim: false }), [byPassword, byGoogle])
  assert.deepEqual(actions({ canReclaim: false, providers: [] }), [byPassword])
  assert.deepEqual(actions({ hasPassword: false, canReclaim: false }), [byGoogle])
  assert.deepEqual(actions({ hasPassword: false, providers: [] }), [byReclaim])
  assert.doesNotMatch(pages.linkAccount({ ...linkAccount, hasPassword: false, providers: [] }), /<details>/)
})

/** The text after the email on the page for linking an account. */
const about = (providers: LinkAccountView['providers']) => {
  const page = pages.linkAccount({ ...linkAccount, hasPassword: false, providers })
  return /<p><b>sam@example\.com<\/b> already has an account\. ?(.*)<\/p>/.exec(page)?.[1]
}

test('the page names the connected providers if they are the only method, and none without a method', () => {
  assert.equal(about([google]), 'Log in with Google to connect GitHub.')
  assert.match(about([google, { name: 'corp', label: 'Corp' }]) ?? '', /^Log in with one of these to connect GitHub:$/)
  assert.equal(about([]), '')
})

const ends = (hasPassword: boolean) =>
  [...pages.linkAccount({ ...linkAccount, hasPassword }).matchAll(/<li>(.*)<\/li>/g)].map(([, text]) => text)

test('the page for reclaiming an account says what that ends', () => {
  const all = [
    'All earlier ways to log in, and two-step verification, are removed.',
    'All devices are logged out.',
    'Roles it was given are removed.',
    'Its content stays and is yours.',
  ]
  assert.deepEqual(ends(true), all)
  assert.deepEqual(ends(false), all)
})

test('where users log in by mail, the pages of an account that exists say so; a code connects nothing there', () => {
  const byMail = createAllPages({ ...APPEARANCE, emailSignIn: true, mailIsOn: true })
  const ASK = LOGIN.replace('login', 'login/email')
  const linking = byMail.linkAccount({ ...linkAccount, canReclaim: false })
  assert.match(
    linking,
    /Can’t do that\? <a href="[^"]*">Log in by email<\/a>, then connect GitHub on your account page\./,
  )
  assert.equal(linksOf(linking)[0], ASK)
  assert.doesNotMatch(byMail.linkAccount(linkAccount), /login\/email/, 'the provider has proved the address')
  assert.doesNotMatch(pages.linkAccount({ ...linkAccount, canReclaim: false }), /login\/email/)

  const view = {
    csrfToken: 'token',
    returnTo: RETURN_TO,
    provider: github,
    problem: 'no_proof',
    requestId: 'r-1',
  } as const
  const more = { email: 'sam@example.com', canSignUp: true, accepted: [] }
  const shownTo = (signedIn: boolean) => byMail.providerProblem({ ...view, ...more, signedIn })
  assert.deepEqual(linksOf(shownTo(false)), [ASK, LOGIN])
  assert.equal(firstOf(shownTo(false))[0]?.attributes.href, ASK)
  assert.match(shownTo(false), /Log in with a code by email, then connect GitHub on your account page\./)
  assert.equal(firstOf(shownTo(true))[0]?.attributes.href, '/auth/account')
})

/** What the page of re-authentication shows where nothing but a recent sign-in is asked for. */
const NO_STEP_UP = {
  csrfToken: 'token',
  hasPasskeys: false,
  code: undefined,
  returnTo: undefined,
  acr: undefined,
  target: '/auth/account?done=confirmed',
  setsUpNext: false,
  errors: {},
}

test('re-authentication offers the password or a connected provider', () => {
  const view = { ...NO_STEP_UP, email: 'sam@example.com', hasPassword: true, providers: [google] }
  const byPassword = { action: '/auth/account/confirm', fields: { csrf_token: 'token', password: undefined } }
  const byGoogle = { action: '/auth/oauth/google', fields: { csrf_token: 'token', intent: 'confirm' } }
  assert.deepEqual(formsOf(pages.reauthentication(view)), [byPassword, byGoogle])
  assert.deepEqual(formsOf(pages.reauthentication({ ...view, providers: [] })), [byPassword])
  assert.deepEqual(formsOf(pages.reauthentication({ ...view, hasPassword: false })), [byGoogle])
  assert.deepEqual(linksOf(pages.reauthentication(view)), ['/auth/account', '/auth/logout'])
})

const linked = (id: string, removable: boolean): LinkedView => ({
  id,
  label: 'GitHub',
  email: 'sam@example.com',
  linkedAtMs: Date.UTC(2026, 10, 21),
  removable,
})

const HAPPENED: AccountView['activity'][number] = {
  type: 'logout',
  atMs: 0,
  by: 'user',
  userAgent: undefined,
  address: undefined,
  method: 'GitHub',
  application: undefined,
  reason: undefined,
  count: 1,
  isCurrent: false,
}

const account = (signIn: SignInView | undefined): string => {
  const view: AccountView = {
    csrfToken: 'token',
    user: { email: 'sam@example.com', username: 'sam', createdAtMs: 0 },
    nowMs: 0,
    sessions: [],
    moreSessions: 0,
    email: { isVerified: true, mailIsOn: false, canConfirm: false, isRecentlyAuthenticated: true },
    newEmail: { value: '' },
    username: { value: 'sam' },
    password: { errors: {} },
    data: { isRecentlyAuthenticated: signIn?.isRecentlyAuthenticated ?? true },
    deletion: {},
    activity: [HAPPENED],
    signIn,
  }
  return pages.account(view)
}

const linksToConfirm = (page: string) => linksOf(page).filter((link) => link?.startsWith(CONFIRM))

const fieldsOf = (page: string, action: string) => formsOf(page).find((form) => form.action === action)?.fields
const CONFIRM = '/auth/account/confirm'
const confirmFor = (section: string) => `${CONFIRM}?return_to=%2Fauth%2Faccount%23${section}`

const FIRST: SignInView = {
  hasPassword: false,
  isRecentlyAuthenticated: true,
  linked: [linked('i-1', false)],
  linkable: [google],
}
const BOTH: SignInView = {
  hasPassword: true,
  isRecentlyAuthenticated: true,
  linked: [linked('i-1', true)],
  linkable: [google],
}

test('the account page shows the ways to log in, to connect and to disconnect', () => {
  const page = account(BOTH)
  assert.match(page, /<b>Password<\/b><span class="about">Set<[^]+<b>GitHub<[^]+<b>Connect Google</)
  assert.deepEqual(fieldsOf(page, '/auth/account/identities'), { csrf_token: 'token', identity_id: 'i-1' })
  assert.deepEqual(fieldsOf(page, '/auth/oauth/google'), { csrf_token: 'token', intent: 'link' })
  assert.match(page, /aria-label="Disconnect GitHub, sam@example\.com"/)
  assert.match(page, /<time datetime="2026-11-21T00:00:00\.000Z" data-time="day">21 Nov 2026<\/time>/)
  assert.ok(!linksOf(page).some((link) => link?.startsWith(CONFIRM)))
})

test('the last way to log in cannot be disconnected', () => {
  const page = account(FIRST)
  assert.equal(fieldsOf(page, '/auth/account/identities'), undefined)
  assert.ok(page.includes('Your only way to log in'))
  assert.ok(!account(BOTH).includes('Your only way to log in'))
})

test('a user without a password can set one, and can delete the account without one', () => {
  const password = { csrf_token: 'token', new_password: undefined }
  assert.deepEqual(fieldsOf(account(FIRST), '/auth/account/password'), password)
  assert.deepEqual(fieldsOf(account(FIRST), '/auth/account/delete'), { csrf_token: 'token' })
  assert.deepEqual(fieldsOf(account(BOTH), '/auth/account/password'), { ...password, current_password: undefined })
  assert.deepEqual(fieldsOf(account(BOTH), '/auth/account/delete'), { csrf_token: 'token', password: undefined })
})

test('a change that could lock the user out is not offered before re-authentication', () => {
  const stale = account({ ...BOTH, isRecentlyAuthenticated: false })
  const actions = ['/auth/logout', '/auth/account/username', '/auth/account/password']
  assert.deepEqual(
    formsOf(stale).map(({ action }) => action),
    [...actions, '/auth/account/delete'],
  )
  assert.deepEqual(linksToConfirm(stale), ['ways-in', 'connect', 'download-data'].map(confirmFor))
  const staleFirst = account({ ...FIRST, isRecentlyAuthenticated: false })
  assert.deepEqual(
    formsOf(staleFirst).map(({ action }) => action),
    actions.filter((action) => action !== '/auth/account/password'),
  )
  const proven = ['set-password', 'connect', 'download-data', 'delete-account']
  assert.deepEqual(linksToConfirm(staleFirst), proven.map(confirmFor))
  const names = [...staleFirst.matchAll(/confirm\?[^>]* aria-label="([^"]+)"/g)].map(([, name]) => name)
  assert.equal(new Set(names).size, proven.length, 'each link says for what it is')
  const nothingToDo = account({ ...BOTH, isRecentlyAuthenticated: false, linked: [], linkable: [] })
  assert.deepEqual(linksToConfirm(nothingToDo), [confirmFor('download-data')])
})

test('a user without a password is not asked to change it', () => {
  for (const isRecentlyAuthenticated of [true, false]) {
    assert.doesNotMatch(account({ ...FIRST, isRecentlyAuthenticated }), /your password/i)
    assert.match(account({ ...BOTH, isRecentlyAuthenticated }), /Change your password/)
  }
})

test('without providers the account page does not mention them', () => {
  const page = account(undefined)
  assert.doesNotMatch(page, /Connect |oauth|identities|account\/confirm/)
  assert.ok(fieldsOf(page, '/auth/account/password'))
})

test('a well-known provider has an icon; another provider has a button without one', () => {
  const named = ['google', 'github', 'microsoft', 'apple', 'gitlab', 'discord']
  for (const name of named) {
    const asset = pages.assets.find(({ path }) => path === pages.iconOf(name))
    assert.equal(asset?.contentType, 'image/svg+xml; charset=utf-8', name)
    assert.match(asset?.body ?? '', /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 24 24">.+<\/svg>$/)
    assert.doesNotMatch(asset?.body ?? '', /script|href|url\(h/)
  }
  for (const name of ['corp', 'password', 'constructor', '']) assert.equal(pages.iconOf(name), undefined, name)
  const confirm = { ...NO_STEP_UP, email: '', hasPassword: false }
  const page = pages.reauthentication({ ...confirm, providers: [{ name: 'corp', label: '<corp' }] })
  assert.match(
    page,
    /<button class="svc-button second"><span class="tile" aria-hidden="true">&lt;<\/span>Continue with &lt;corp</,
  )
  assert.doesNotMatch(page, /<img/)
})

test('a provider’s name is always one part of the path', () => {
  const name = '../a/b?c#d\ud800"'
  const [form] = formsOf(shown('expired', { provider: { name, label: name } }))
  assert.match(form?.action ?? '', /^\/auth\/oauth\/[^/?#"]+$/)
  const claim = formsOf(pages.linkAccount({ ...linkAccount, provider: { name, label: name } })).at(-1)
  assert.match(claim?.action ?? '', /^\/auth\/oauth\/[^/?#"]+\/claim$/)
})

test('from four providers on, their buttons show the name alone, and say the rest to screen readers', () => {
  const providers = ['Google', 'GitHub', 'Apple', 'Corp'].map((label) => ({ name: label.toLowerCase(), label }))
  const view = { csrfToken: 't', returnTo: undefined, email: '', errors: {}, passwords: true, signupOpen: true }
  const buttonsOf = (count: number) =>
    [
      ...pages
        .login({ ...view, providers: providers.slice(0, count) })
        .matchAll(/<button class="svc-button second"([^>]*)>.*?<\/span>(.*?)<\/button>/g),
    ].map(([, attributes, text]) => [attributes, text])
  assert.deepEqual(buttonsOf(3), [
    ['', 'Continue with Google'],
    ['', 'Continue with GitHub'],
    ['', 'Continue with Apple'],
  ])
  assert.deepEqual(
    buttonsOf(4),
    providers.map(({ label }) => [` aria-label="Continue with ${label}"`, label]),
  )
})
