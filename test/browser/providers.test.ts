// Runs on SQLite.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { type TestContext, after, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { launchChrome } from '../support/browser/chrome.ts'
import { assertAccessible, type BrowserWindow, openRowOf, openWindow, tabTo } from '../support/browser/window.ts'
import { afterwards } from '../support/cleanup.ts'
import { newPerson, signedUp } from '../support/client/accounts.ts'
import { assertCannotLogIn } from '../support/client/assertions.ts'
import { openDatabase } from '../support/database/database.ts'
import { createAuthority } from '../support/network/certificates.ts'
import { newGitHubPerson, startGitHubServer } from '../support/provider/github-server.ts'
import { startMisbehavingProvider } from '../support/provider/misbehaving-provider.ts'
import { startOpenIdProvider } from '../support/provider/openid-provider.ts'
import { newOpenIdUser } from '../support/provider/openid-provider-users.ts'
import { startServiceWith } from '../support/provider/provider-service.ts'
import type { Service } from '../support/service/service.ts'
import https from 'node:https'

// The service is at localhost, so for a browser these are other sites.
const corp = await startOpenIdProvider({ host: '127.0.0.1' })
const github = await startGitHubServer({ host: '127.0.0.1' })
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const team = {
  teamId: 'ABCDE12345',
  keyId: '12345ABCDE',
  publicKey: keys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
}
const apple = await startMisbehavingProvider({
  host: '127.0.0.1',
  profile: 'apple',
  clientId: 'com.example.web',
  clientSecret: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  team,
})
const service = await startServiceWith(
  { github, corp, apple },
  { env: { SVC_OAUTH_APPLE_TEAM_ID: team.teamId, SVC_OAUTH_APPLE_KEY_ID: team.keyId } },
)
const database = await openDatabase(service)
const browser = await launchChrome()
after(async () => {
  await browser.close()
  const failures = service.logLines().filter(({ level }) => level === 'error')
  assert.deepEqual(failures, [], 'the service made no mistake')
})

const account = '/auth/account'
const shop = '/shop?item=1#top'
const loginToShop = `/auth/login?return_to=${encodeURIComponent(shop)}`

/** A window that is closed after the test. Fails if the browser reported an error that is not `isExpected`. */
const newWindow = async (
  t: TestContext,
  {
    scripts = true,
    isExpected = () => false,
    at = service,
  }: { scripts?: boolean; isExpected?: (complaint: string) => boolean; at?: Service } = {},
): Promise<BrowserWindow> => {
  const others = [github.origin, corp.issuer, apple.origin]
  const visitor = await openWindow(browser, at, { scripts, others })
  // The window reports the errors of its first tab only.
  visitor.context.on('console', (message) => {
    const isOfStatus = message.text().startsWith('Failed to load resource')
    if (message.page() !== visitor.page && message.type() === 'error' && !isOfStatus)
      visitor.complaints.push(message.text())
  })
  t.after(async () => {
    await visitor.context.close()
    assert.deepEqual(
      visitor.complaints.filter((complaint) => !isExpected(complaint)),
      [],
    )
  })
  return visitor
}

const click = async (page: Page, selector: string) => {
  await openRowOf(page.locator(selector))
  await Promise.all([page.waitForEvent('load'), page.locator(selector).click()])
}

/** Presses the button of a provider on any page. */
const goTo = (page: Page, provider: string) => click(page, `form[action="/auth/oauth/${provider}"] button`)

/** What the user does on the provider's page. */
const choose = (page: Page, choice: 'sign-in' | 'cancel') => click(page, `button[value="${choice}"]`)

const signInBy = async (page: Page, provider: string) => {
  await goTo(page, provider)
  await choose(page, 'sign-in')
}

const heading = ({ page }: { page: Page }) => page.locator('h1').innerText()

/** A new user at every provider, with one email. */
const offerNewUser = () => {
  corp.person = newOpenIdUser()
  const email = corp.person.email ?? ''
  apple.person = newOpenIdUser({ email })
  github.person = newGitHubPerson({ emails: [{ email, primary: true, verified: true, visibility: 'private' }] })
  return email
}

const assertSignedInAs = async ({ page }: BrowserWindow, email: string) => {
  const answer = await page.request.get('/auth/api/v1/user')
  assert.equal(((await answer.json()) as { email?: string }).email, email)
}

/** Checks that the page is accessible, also on a small phone. */
const assertUsable = async (visitor: BrowserWindow) => {
  await assertAccessible(visitor)
  const before = visitor.page.viewportSize() ?? { width: 1280, height: 720 }
  await visitor.page.setViewportSize({ width: 320, height: 640 })
  const overflow = await visitor.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  assert.ok(Number(overflow) <= 0, `nothing is wider than a small phone: ${visitor.path()}`)
  await visitor.page.setViewportSize(before)
}

/** GitHub shows no page during the test, as for a user who has agreed before. */
const answersAtOnce = (t: TestContext) => {
  github.isAutomatic = true
  t.after(() => {
    github.isAutomatic = false
  })
}

type Sending = { headers: Record<string, string>; blocked: string[] }

/** The requests that match the path of a pending sign-in's cookie, and why the browser does not send it. */
const watchCookie = async ({ context, page }: BrowserWindow): Promise<Sending[]> => {
  const sent: Sending[] = []
  const session = await context.newCDPSession(page)
  session.on('Network.requestWillBeSentExtraInfo', ({ headers, associatedCookies }) => {
    const found = associatedCookies.find(({ cookie }) => cookie.name === 'svc_oauth')
    if (found && !found.blockedReasons.includes('NotOnPath')) sent.push({ headers, blocked: found.blockedReasons })
  })
  await session.send('Network.enable')
  return sent
}

for (const scripts of [true, false]) {
  describe(`with scripts ${scripts ? 'on' : 'off'}`, () => {
    for (const provider of ['github', 'corp']) {
      test(`a user goes from the button of ${provider} to return_to`, async (t) => {
        const visitor = await newWindow(t, { scripts })
        const email = offerNewUser()
        await visitor.open(loginToShop)
        await goTo(visitor.page, provider)
        assert.equal(new URL(visitor.page.url()).hostname, '127.0.0.1')
        await choose(visitor.page, 'sign-in')
        assert.equal(visitor.path(), shop)
        await assertSignedInAs(visitor, email)
      })
    }

    test('a callback by form comes without cookies, and signs in with those of the GET', async (t) => {
      const visitor = await newWindow(t, { scripts })
      const email = offerNewUser()
      const sent = await watchCookie(visitor)
      await visitor.open(loginToShop)
      await visitor.page.locator('form[action="/auth/oauth/apple"] button').click()
      if (!scripts) await visitor.page.locator(`form[action^="${service.url}"] button`).click()
      await visitor.page.waitForURL(`**${shop}`)
      const [posted, got] = sent
      assert.equal(posted?.headers['Sec-Fetch-Site'], 'cross-site')
      assert.match(posted?.blocked.join() ?? '', /^\w*SameSiteLax$/, 'the POST comes without the cookie')
      assert.equal(posted?.headers.Cookie, undefined)
      assert.deepEqual(got?.blocked, [], 'the GET has it')
      assert.match(got?.headers.Cookie ?? '', /\bsvc_oauth=/)
      assert.equal(sent.length, 2)
      await assertSignedInAs(visitor, email)
    })
  })
}

for (const provider of ['github', 'corp']) {
  test(`a user cancels at ${provider}, sees a page that says so, tries again and lands on return_to`, async (t) => {
    const visitor = await newWindow(t, { scripts: provider === 'github' })
    const email = offerNewUser()
    await visitor.open(loginToShop)
    await goTo(visitor.page, provider)
    await choose(visitor.page, 'cancel')
    assert.equal(await heading(visitor), 'You cancelled')
    await signInBy(visitor.page, provider)
    assert.equal(visitor.path(), shop)
    await assertSignedInAs(visitor, email)
  })
}

/** So long ago that the user has to re-authenticate. */
const makeStale = (email: string) =>
  database.rows(
    'UPDATE sessions SET authenticated_at = authenticated_at - 660000 WHERE user_id = (SELECT id FROM users WHERE email = ?)',
    email,
  )

// These tests need no script. Other tests cover what the script adds.
test('a user proves ownership of the account with the password', async (t) => {
  const { person } = await signedUp(service)
  const visitor = await newWindow(t, { scripts: false })
  corp.person = newOpenIdUser({ email: person.email })
  await visitor.open(loginToShop)
  await signInBy(visitor.page, 'corp')
  assert.equal(await heading(visitor), 'Connect Corp to your account')
  await visitor.page.reload()
  assert.equal(await heading(visitor), 'Connect Corp to your account', 'it can be loaded again')
  assert.match(visitor.path(), /^\/auth\/oauth\/corp\/link\?pending=/)
  await visitor.submit('/auth/oauth/corp/link', { password: 'not my password' })
  const password = visitor.page.locator('input[name="password"]')
  assert.equal(await password.getAttribute('aria-invalid'), 'true')
  await visitor.submit('/auth/oauth/corp/link', { password: person.password })
  assert.equal(visitor.path(), shop)
  await assertSignedInAs(visitor, person.email)
})

test('a user proves ownership of the account with a provider that is connected', async (t) => {
  const visitor = await newWindow(t, { scripts: false })
  const email = offerNewUser()
  await visitor.open('/auth/signup')
  await signInBy(visitor.page, 'corp')
  await visitor.context.clearCookies({ domain: 'localhost' })
  await visitor.open(loginToShop)
  await signInBy(visitor.page, 'github')
  assert.equal(await heading(visitor), 'Connect GitHub to your account')
  // Corp has a session of the user, and must ask for the password all the same.
  await signInBy(visitor.page, 'corp')
  assert.equal(visitor.path(), shop)
  await assertSignedInAs(visitor, email)
  await visitor.open(account)
  assert.equal(await visitor.page.locator('button[name="identity_id"]').count(), 2)
})

test('a user without a password connects, re-authenticates, disconnects, sets a password', async (t) => {
  const visitor = await newWindow(t, { scripts: false })
  const { page } = visitor
  const email = offerNewUser()
  await visitor.open(`/auth/login?return_to=${encodeURIComponent(account)}`)
  await signInBy(page, 'corp')
  assert.equal(visitor.path(), account)
  await signInBy(page, 'github')
  assert.equal(visitor.path(), `${account}?done=linked#signing-in`)

  await makeStale(email)
  await visitor.open(account)
  assert.equal(await page.locator('button[name="identity_id"]').count(), 0)
  await click(page, 'li:has-text("GitHub") a[href^="/auth/account/confirm"]')
  await signInBy(page, 'corp')
  assert.equal(visitor.path(), `${account}?done=confirmed&at=ways-in#done`)

  await click(page, 'li:has-text("GitHub") button[name="identity_id"]')
  assert.equal(visitor.path(), `${account}?done=unlinked#signing-in`)
  const { password } = newPerson()
  await visitor.submit('/auth/account/password', { new_password: password })
  assert.equal(visitor.path(), `${account}?done=password_set#signing-in`)
  assert.ok(await page.locator('.done[role="status"]').isVisible(), 'it is announced')
  await visitor.submit('/auth/logout', {})
  await visitor.open(loginToShop)
  await visitor.submit('/auth/login', { email, password })
  assert.equal(visitor.path(), shop)
})

test('a user whose account a stranger connected to changes the password, and disconnects the stranger', async (t) => {
  const { person } = await signedUp(service)
  const visitor = await newWindow(t)
  const { page } = visitor
  offerNewUser()
  await visitor.open(`/auth/login?return_to=${encodeURIComponent(account)}`)
  await visitor.submit('/auth/login', { email: person.email, password: person.password })
  await signInBy(page, 'github')
  await makeStale(person.email)
  await visitor.open(account)
  const change = { current_password: person.password, new_password: newPerson().password }
  await visitor.submit('/auth/account/password', change)
  assert.equal(visitor.path(), `${account}?done=password#signing-in`)
  assert.equal(await page.locator('section:has(#done)').getAttribute('aria-labelledby'), 'signing-in-title')
  await assertUsable(visitor)
  await click(page, 'li:has-text("GitHub") button[name="identity_id"]')
  assert.equal(visitor.path(), `${account}?done=unlinked#signing-in`)
  assert.equal(await page.locator('button[name="identity_id"]').count(), 0)
})

test('a user without a password deletes the account, after re-authentication', async (t) => {
  const visitor = await newWindow(t, { scripts: false })
  const { page } = visitor
  const email = offerNewUser()
  await visitor.open(`/auth/login?return_to=${encodeURIComponent(account)}`)
  await signInBy(page, 'github')
  const stale = await visitor.context.newPage()
  await stale.goto(account)
  await makeStale(email)
  // The page was opened before, so it still has the form.
  await click(stale, 'form[action="/auth/account/delete"] button')
  assert.equal(new URL(stale.url()).pathname, '/auth/account/confirm')
  await signInBy(stale, 'github')
  await visitor.open(account)
  await click(page, 'form[action="/auth/account/delete"] button')
  assert.equal(visitor.path(), '/auth/login?done=deleted')
  assert.deepEqual(await database.rows('SELECT id FROM users WHERE email = ?', email), [])
})

test('the owner of an email reclaims the account with the keyboard alone', async (t) => {
  const { person, agent } = await signedUp(service)
  const visitor = await newWindow(t)
  corp.person = newOpenIdUser({ email: person.email })
  await visitor.open(loginToShop)
  await signInBy(visitor.page, 'corp')
  await tabTo(visitor.page, 'summary')
  await visitor.page.keyboard.press('Enter')
  await tabTo(visitor.page, 'form[action$="/claim"] button')
  await Promise.all([visitor.page.waitForEvent('load'), visitor.page.keyboard.press('Enter')])
  assert.equal(visitor.path(), shop)
  await assertSignedInAs(visitor, person.email)
  await assertCannotLogIn(service, person)
  assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
})

/** Sends the browser to GitHub by way of another host, whose certificate it accepts. */
const overHop = async (visitor: BrowserWindow, hop: string) => {
  const session = await visitor.context.newCDPSession(visitor.page)
  await session.send('Security.setIgnoreCertificateErrors', { ignore: true })
  await visitor.context.route('**/auth/oauth/github', async (route) => {
    const response = await route.fetch({ maxRedirects: 0 })
    const { location = '', ...headers } = response.headers()
    await route.fulfill({ response, headers: { ...headers, location: `${hop}/?to=${encodeURIComponent(location)}` } })
  })
}

const isOfPolicy = (complaint: string) => /form-action|ERR_ABORTED|ERR_BLOCKED_BY_CSP/.test(complaint)

describe('a redirect to a provider by way of hosts that svc does not know', () => {
  const visited: string[] = []

  /** A host with https that redirects every request. */
  const startHop = async () => {
    const { certificate, key } = createAuthority('Nobody').issue('127.0.0.1')
    const hop = https.createServer({ cert: certificate, key }, (request, response) => {
      const { searchParams } = new URL(request.url ?? '/', 'https://hop.invalid')
      visited.push(searchParams.get('to') ?? '')
      response.writeHead(302, { location: searchParams.get('to') ?? '' }).end()
    })
    hop.listen(0, '127.0.0.1')
    await once(hop, 'listening')
    afterwards(undefined, () => hop.close())
    const address = hop.address()
    assert.ok(typeof address === 'object' && address)
    return `https://127.0.0.1:${address.port}`
  }

  test('is allowed by the policy of the page, there and back', async (t) => {
    const [visitor, hop] = [await newWindow(t), await startHop()]
    const email = offerNewUser()
    await overHop(visitor, hop)
    answersAtOnce(t)
    await visitor.open(loginToShop)
    await goTo(visitor.page, 'github')
    assert.equal(visitor.path(), shop)
    assert.equal(visited.length, 1)
    await assertSignedInAs(visitor, email)
  })

  for (const formAction of ["'self'", "'self' https:", `'self' ${github.origin}`]) {
    test(`would be blocked by a policy with only ${formAction}`, async (t) => {
      const [visitor, hop] = [await newWindow(t, { isExpected: isOfPolicy }), await startHop()]
      offerNewUser()
      await overHop(visitor, hop)
      await visitor.context.route('**/auth/login*', async (route) => {
        const response = await route.fetch()
        const headers = response.headers()
        const policy = headers['content-security-policy']?.replace(/form-action [^;]+/, `form-action ${formAction}`)
        await route.fulfill({ response, headers: { ...headers, 'content-security-policy': policy ?? '' } })
      })
      await visitor.open(loginToShop)
      const told = visitor.page.waitForEvent('console', (message) => message.text().includes('form-action'))
      await visitor.page.locator('form[action="/auth/oauth/github"] button').click()
      await told
      assert.equal(visitor.path(), loginToShop)
    })
  }
})

test('a visitor who opened the page under another name of the host sees why it failed, and is signed in at the next try', async (t) => {
  const visitor = await newWindow(t)
  const email = offerNewUser()
  answersAtOnce(t)
  await visitor.page.goto(`http://127.0.0.1:${service.port}${loginToShop}`)
  await goTo(visitor.page, 'github')
  assert.match(visitor.path(), /^\/auth\/oauth\/github\/callback/)
  assert.equal(await heading(visitor), 'Finish in the same browser')
  await goTo(visitor.page, 'github')
  assert.equal(visitor.path(), shop)
  await assertSignedInAs(visitor, email)
})

test('two tabs at once are both signed in, each at its own return_to', async (t) => {
  const visitor = await newWindow(t)
  const email = offerNewUser()
  const other = await visitor.context.newPage()
  await visitor.open(loginToShop)
  await other.goto('/auth/login?return_to=%2Fother')
  await goTo(visitor.page, 'corp')
  await goTo(other, 'corp')
  await choose(visitor.page, 'sign-in')
  assert.equal(visitor.path(), shop)
  await choose(other, 'sign-in')
  assert.equal(other.url(), `${service.url}/other`)
  await assertSignedInAs(visitor, email)
})

test('a user goes back from one provider to the login page, then signs in with another', async (t) => {
  const visitor = await newWindow(t)
  const email = offerNewUser()
  await visitor.open(loginToShop)
  await goTo(visitor.page, 'corp')
  await visitor.page.goBack()
  assert.equal(visitor.path(), loginToShop)
  await signInBy(visitor.page, 'github')
  assert.equal(visitor.path(), shop)
  await assertSignedInAs(visitor, email)
})

test('the back button after a sign-in leads to return_to, not to a second sign-in', async (t) => {
  const visitor = await newWindow(t)
  const email = offerNewUser()
  await visitor.open(loginToShop)
  await signInBy(visitor.page, 'github')
  await visitor.page.goBack()
  assert.equal(new URL(visitor.page.url()).origin, github.origin)
  // A user who presses the button there once more brings back the same state.
  await choose(visitor.page, 'sign-in')
  assert.equal(visitor.path(), shop)
  await visitor.open(loginToShop)
  assert.equal(visitor.path(), shop, 'the login page sends on who is logged in')
  await assertSignedInAs(visitor, email)
})

test('a callback that is loaded again says that it was used, and what to do next', async (t) => {
  const visitor = await newWindow(t)
  const email = offerNewUser()
  await visitor.open(loginToShop)
  await goTo(visitor.page, 'github')
  await choose(visitor.page, 'cancel')
  await visitor.page.reload()
  assert.equal(await heading(visitor), 'This step is already done')
  await signInBy(visitor.page, 'github')
  assert.equal(visitor.path(), shop)
  await assertSignedInAs(visitor, email)
})

test('a callback that is loaded again does not claim a connection that was not made', async (t) => {
  const visitor = await newWindow(t)
  offerNewUser()
  await visitor.open(`/auth/login?return_to=${encodeURIComponent(account)}`)
  await signInBy(visitor.page, 'corp')
  await goTo(visitor.page, 'github')
  await choose(visitor.page, 'cancel')
  await visitor.page.reload()
  assert.equal(await visitor.page.getByText('Connected. Your other devices').count(), 0, visitor.path())
})

test('a user who tries to prove ownership with the account of another user gets another try, not an account', async (t) => {
  const visitor = await newWindow(t)
  const email = offerNewUser()
  await visitor.open('/auth/login')
  await signInBy(visitor.page, 'corp')
  await visitor.context.clearCookies()
  const owner = corp.person
  corp.person = newOpenIdUser()
  await visitor.open(loginToShop)
  await signInBy(visitor.page, 'github')
  await signInBy(visitor.page, 'corp')
  assert.equal(await heading(visitor), 'Wrong Corp account')
  await visitor.context.clearCookies({ domain: '127.0.0.1' })
  corp.person = owner
  await signInBy(visitor.page, 'corp')
  assert.equal(visitor.path(), shop)
  await assertSignedInAs(visitor, email)
  await visitor.open(account)
  assert.equal(await visitor.page.locator('button[name="identity_id"]').count(), 2, 'both are connected')
})

test('the button on a page from before another tab signed in leads to return_to', async (t) => {
  const visitor = await newWindow(t)
  offerNewUser()
  const other = await visitor.context.newPage()
  await other.goto('/auth/login?return_to=%2Fother')
  await visitor.open(loginToShop)
  await signInBy(visitor.page, 'corp')
  await goTo(other, 'corp')
  const next = other.locator('a[href*="%2Fother"], input[name="return_to"][value="/other"]')
  assert.ok(other.url() === `${service.url}/other` || (await next.count()) > 0, await other.locator('main').innerText())
})

test('without passwords and passkeys, login goes straight on to the only provider; after a logout it waits for a press', async (t) => {
  const lonely = await startServiceWith({ corp }, { t, env: { SVC_PASSWORDS: 'off', SVC_PASSKEYS: 'off' } })
  const visitor = await newWindow(t, { at: lonely })
  const { page } = visitor
  corp.person = newOpenIdUser()
  await visitor.open(loginToShop)
  assert.ok(page.url().startsWith(corp.issuer), page.url())
  await choose(page, 'sign-in')
  assert.equal(visitor.path(), shop)
  await visitor.open(account)
  await click(page, 'form[action="/auth/logout"] button')
  await visitor.open(loginToShop)
  assert.equal(visitor.path(), loginToShop)
  await goTo(page, 'corp')
  assert.equal(visitor.path(), shop, 'the session at the provider is there still')
})

describe('an accessibility check, light and dark, and no wider than a small phone', () => {
  test('login, the page after cancelling, and the account', async (t) => {
    const visitor = await newWindow(t)
    const email = offerNewUser()
    await visitor.open('/auth/login')
    await assertUsable(visitor)
    await goTo(visitor.page, 'github')
    await choose(visitor.page, 'cancel')
    await assertUsable(visitor)
    await signInBy(visitor.page, 'github')
    await visitor.open(account)
    await signInBy(visitor.page, 'corp')
    await assertUsable(visitor)
    await makeStale(email)
    await visitor.open(account)
    await assertUsable(visitor)
    await click(visitor.page, '#set-password a')
    await assertUsable(visitor)
  })

  test('the pages for linking an account and for re-authentication, after a wrong password', async (t) => {
    const { person } = await signedUp(service)
    const visitor = await newWindow(t)
    corp.person = newOpenIdUser({ email: person.email })
    await visitor.open('/auth/login')
    await signInBy(visitor.page, 'corp')
    await visitor.page.locator('summary').click()
    await assertUsable(visitor)
    await visitor.submit('/auth/oauth/corp/link', { password: 'not my password' })
    await assertUsable(visitor)
    await visitor.submit('/auth/oauth/corp/link', { password: person.password })
    await visitor.open('/auth/account/confirm')
    await visitor.submit('/auth/account/confirm', { password: 'not my password' })
    await assertUsable(visitor)
    await visitor.submit('/auth/account/confirm', { password: person.password })
    assert.equal(visitor.path(), `${account}?done=confirmed#done`)
  })
})
