// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAgent } from '../../support/client/accounts.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { startDevHere } from '../../support/dev/dev.ts'

const dev = await startDevHere({ options: { name: 'shop' } })

const decode = (attribute: string): string => attribute.replaceAll('&amp;', '&')

/** Presses the button of the login page; returns the agent and the page of the provider. */
const atProvider = async (): Promise<{ agent: UserAgent; page: string; links: string[] }> => {
  const agent = newAgent(dev)
  assert.match((await agent.get('/auth/login')).text, /Dev Provider/)
  const begun = await agent.post('/auth/oauth/dev')
  const address = begun.location ?? ''
  assert.ok(address.startsWith(`${dev.url}/auth/dev/provider/authorize?`), begun.text)
  const { text } = await agent.get(address.slice(dev.url.length))
  return {
    agent,
    page: text,
    links: [...text.matchAll(/href="(\/auth\/dev\/provider[^"]*)"/g)].map(([, href = '']) => decode(href)),
  }
}

/** Follows a link of the page and what comes then; returns the last answer. */
const follow = async (agent: UserAgent, link: string) => {
  const chosen = await agent.get(link)
  const back = chosen.location ?? ''
  assert.ok(back.startsWith(`${dev.url}/auth/oauth/dev/callback?`), chosen.text)
  return agent.get(back.slice(dev.url.length))
}

const linkWith = (links: string[], ...parts: string[]): string =>
  links.find((link) => parts.every((part) => link.includes(part))) ?? assert.fail(links.join('\n'))

test('ada and grace are connected from the start', async () => {
  for (const name of ['ada', 'grace']) {
    const { agent, links } = await atProvider()
    assert.equal((await follow(agent, linkWith(links, `email=${name}%40example.com`))).status, 303)
    assert.equal((await agent.get('/auth/api/v1/user')).json<{ username: string }>().username, name)
  }
})

test('any other address makes an account, if it is verified', async () => {
  const { agent, page } = await atProvider()
  const [, go = assert.fail()] = /data-go="([^"]+)"/.exec(page) ?? []
  const answer = await follow(agent, `${decode(go)}&email=alan%40example.com`)
  assert.equal(answer.status, 303, answer.text)
  assert.equal((await agent.get('/auth/api/v1/user')).json<{ email: string }>().email, 'alan@example.com')
  const other = await atProvider()
  const refused = await follow(
    other.agent,
    linkWith(other.links, 'email=ada', 'verified=false').replace('ada%40', 'mary%40'),
  )
  assert.equal(refused.status, 403, refused.text)
  assert.equal((await other.agent.get('/auth/api/v1/user')).status, 401)
})

test('it fails on purpose, each time as a provider does, and signs nobody in', async () => {
  const statuses: Record<string, number> = {}
  for (const fault of ['denied', 'error', 'outage', 'forged', 'no_email']) {
    const { agent, links } = await atProvider()
    const link = linkWith(links, `fail=${fault}`)
    // An account that is connected needs no email.
    const answer = await follow(agent, fault === 'no_email' ? link.replace('ada%40', 'mary%40') : link)
    statuses[fault] = answer.status
    assert.equal((await agent.get('/auth/api/v1/user')).status, 401, fault)
  }
  assert.deepEqual(statuses, { denied: 403, error: 503, outage: 503, forged: 401, no_email: 403 })
})

test('a code is good once, and a request that svc has not begun leads nowhere', async () => {
  const { agent, links } = await atProvider()
  const link = linkWith(links, 'email=ada')
  const chosen = await agent.get(link)
  const callback = (chosen.location ?? '').slice(dev.url.length)
  assert.equal((await agent.get(callback)).status, 303)
  assert.notEqual((await newAgent(dev).get(callback)).status, 303)
  for (const [name, value] of [
    ['redirect_uri', 'http://evil.example/'],
    ['client_id', 'other'],
  ] as const) {
    const url = new URL(link, dev.url)
    url.searchParams.set(name, value)
    const refused = await agent.get(url.pathname + url.search)
    assert.deepEqual([refused.status, refused.location], [400, undefined])
    assert.match(refused.text, new RegExp(name))
  }
  assert.equal((await agent.get(`${link}&fail=x`)).status, 400)
  assert.equal((await agent.get(link.replace('ada%40example.com', 'ada'))).status, 400)
})

test('it goes on when the clock was moved', async () => {
  await dev.post('/auth/dev/clock', { forward: '2000h' })
  const { agent, links } = await atProvider()
  assert.equal((await follow(agent, linkWith(links, 'email=grace'))).status, 303)
})
