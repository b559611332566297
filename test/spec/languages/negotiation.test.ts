// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: { SVC_LANGUAGES: 'en, qps' } })
const alone = await startService({ env: { SVC_LANGUAGES: 'qps', SVC_LANGUAGE: 'qps' } })

const languageOf = ({ text }: Answer): string | undefined => /<html lang="([^"]+)"/.exec(text)?.[1]

const isPseudo = ({ text }: Answer): boolean => /<h1>\[[^<]+\]<\/h1>/.test(text)

const assertLanguage = (answer: Answer, tag: string): void => {
  assert.equal(languageOf(answer), tag)
  assert.equal(answer.headers['content-language'], tag)
  assert.equal(answer.headers.vary, 'Accept-Language, Cookie')
  assert.equal(isPseudo(answer), tag === 'qps')
}

const ask = (tag: string) => createUserAgent(service).get('/auth/password/forgot', { 'accept-language': tag })

const picked = async (path: string) => {
  const agent = createUserAgent(service)
  const page = await agent.get(path)
  const [, form = ''] =
    /<form class="language" method="post" action="\/auth\/language">([^]*?)<\/form>/.exec(page.text) ?? []
  const returnTo = /name="return_to" value="([^"]*)"/.exec(form)?.[1]?.replaceAll('&amp;', '&')
  return { agent, page, form, returnTo }
}

describe('a page has the language', () => {
  for (const [accepted, tag] of [
    ['qps', 'qps'],
    ['QPS-ploc, en;q=0.9', 'qps'],
    ['en;q=0.1, qps;q=0.2', 'qps'],
    ['fr, qps;q=0.5, en;q=0.4', 'qps'],
    ['qps;q=0, en', 'en'],
    ['fr', 'en'],
    ['*', 'en'],
    ['../../qps', 'en'],
    ['qps;q=2', 'en'],
  ] as const)
    test(`that Accept-Language prefers: ${accepted}`, async () => {
      const answer = await createUserAgent(service).get('/auth/login', { 'accept-language': accepted })
      assertLanguage(answer, tag)
    })

  test('of SVC_LANGUAGE where nothing is asked for', async () => {
    assertLanguage(await createUserAgent(service).get('/auth/login'), 'en')
    assertLanguage(await createUserAgent(alone).get('/auth/login', { 'accept-language': 'en' }), 'qps')
  })

  test('of ui_locales, before Accept-Language, and keeps it where return_to leads back to it', async () => {
    const agent = createUserAgent(service)
    const returnTo = encodeURIComponent('/x?ui_locales=fr%20qps')
    for (const path of ['/auth/login?ui_locales=fr+qps+en', `/auth/login?return_to=${returnTo}`])
      assertLanguage(await agent.get(path, { 'accept-language': 'en' }), 'qps')
    const nested = encodeURIComponent('/x?ui_locales=qps')
    assertLanguage(await agent.post('/auth/login', { return_to: `/auth/account/confirm?return_to=${nested}` }), 'qps')
    assertLanguage(await agent.get('/auth/login?ui_locales=fr'), 'en')
  })

  test('on errors and on addresses that lead nowhere, and none on what is no page', async () => {
    const agent = createUserAgent(service)
    const headers = { 'accept-language': 'qps' }
    assertLanguage(await agent.get('/auth/nothing', headers), 'qps')
    assertLanguage(await agent.get('/auth/login?return_to=//x', headers), 'qps')
    assertLanguage(await agent.send({ method: 'PUT', path: '/auth/login', headers }), 'qps')
    const { headers: answered } = await agent.get('/auth/api/v1/user', headers)
    assert.equal(answered['content-language'], undefined)
    assert.equal(answered.vary, undefined)
  })

  test('of its reader, after others have asked', async () => {
    for (const tag of ['qps', 'en', 'qps']) assertLanguage(await ask(tag), tag)
  })
})

describe('the picker', () => {
  test('leads back to the page that it stands on, in the language that was picked, which outranks the others', async () => {
    const address = '/auth/login?return_to=%2Fx%3Fa%3Db'
    const { agent, form, returnTo } = await picked(address)
    assert.notEqual(form, '')
    assert.equal(returnTo, undefined, 'the browser says it')
    const answer = await agent.post('/auth/language', { language: 'qps' }, { referer: service.url + address })
    assert.equal(answer.location, address)
    assert.equal(answer.cookie('svc_language')?.value, 'qps')
    assertLanguage(await agent.get('/auth/login?ui_locales=en', { 'accept-language': 'en' }), 'qps')
  })

  test('leads back to a page whose address no Referer names', async () => {
    const address = '/auth/login?email=ada%40example.com'
    const { agent, returnTo } = await picked(address)
    assert.equal(returnTo, address)
    const answer = await agent.post('/auth/language', { language: 'qps', return_to: address }, { referer: service.url })
    assert.equal(answer.location, address)
  })

  test('leads to the login page where the browser names no page, or one elsewhere', async () => {
    const agent = createUserAgent(service)
    for (const referer of [
      '',
      service.url,
      'https://x.example/a',
      `${service.url}.x.example/a`,
      `${service.url}//x/a`,
    ]) {
      const answer = await agent.post('/auth/language', { language: 'qps' }, { referer })
      assert.equal(answer.location, '/auth/login', referer)
    }
  })

  test('names each language in itself', async () => {
    const { form } = await picked('/auth/login')
    assert.match(form, /<option value="en" lang="en" selected>English<\/option>/)
    assert.match(form, /<option value="qps" lang="qps">/)
  })

  test('stands on errors too, and not on answers to a POST', async () => {
    assert.notEqual((await picked('/auth/nothing')).form, '')
    const agent = createUserAgent(service)
    const refused = await agent.post('/auth/login', { email: 'a@example.com', password: 'x' })
    assert.equal(refused.status, 401)
    assert.doesNotMatch(refused.text, /class="language"/)
  })

  test('stands on no page where there is one language', async () => {
    assert.doesNotMatch((await createUserAgent(alone).get('/auth/login')).text, /class="language"/)
  })

  test('refuses a language that is not offered, another origin and a missing token', async () => {
    const agent = createUserAgent(service)
    for (const language of ['de', '../en', '', 'EN']) {
      const answer = await agent.post('/auth/language', { language })
      assert.equal(answer.status, 400, language)
      assert.equal(answer.cookie('svc_language'), undefined)
    }
    assert.equal((await agent.post('/auth/language', { language: 'qps', return_to: '//x.example' })).status, 400)
    assert.equal((await agent.post('/auth/language', { language: 'qps', csrf_token: 'x' })).status, 403)
    const foreign = await agent.post('/auth/language', { language: 'qps' }, { origin: 'https://x.example' })
    assert.equal(foreign.status, 403)
  })

  test('has no effect with a cookie that names no language', async () => {
    const answer = await createUserAgent(service).get('/auth/login', { cookie: 'svc_language=../../x' })
    assertLanguage(answer, 'en')
  })

  test('is on the pages of a signed-in user, and not where new codes are shown', async () => {
    const { agent } = await signedUp(service)
    assert.match((await agent.get('/auth/account')).text, /class="language"/)
  })
})

test('the script of passkeys has the language of its page, from any replica', async () => {
  const agent = createUserAgent(service)
  const { text } = await agent.get('/auth/login', { 'accept-language': 'qps' })
  const path = /src="(\/auth\/assets\/passkeys\.qps\.[\da-f]+\.js)"/.exec(text)?.[1]
  assert.ok(path)
  const script = await createUserAgent(service).get(path)
  assert.equal(script.status, 200)
  assert.match(script.headers['cache-control'] ?? '', /immutable/)
  assert.match(script.text, /Pàššķéý/)
  assert.equal((await agent.get('/auth/assets/passkeys.qps.000000000000.js')).status, 404)
  assert.equal((await agent.get('/auth/assets/passkeys.de.000000000000.js')).status, 404)
})
