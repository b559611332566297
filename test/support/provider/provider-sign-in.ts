import assert from 'node:assert/strict'
import type { Answer, Form, UserAgent } from '../client/user-agent.ts'
import type { Callback } from './provider-pages.ts'

/** Presses a provider's button. Resolves to the authorization URL. */
export const startAt = async (agent: UserAgent, name: string, form: Form = {}): Promise<string> => {
  const answer = await agent.post(`/auth/oauth/${name}`, form)
  assert.equal(answer.status, 303, answer.text)
  assert.ok(answer.location)
  return answer.location
}

/** Returns from a provider by its redirect, or by the form that it posts from its own site. */
export const returnFromProvider = async (agent: UserAgent, callback: Callback): Promise<Answer> => {
  const { pathname, search } = new URL(callback.url)
  if (callback.method === 'GET') return followToProof(agent, await agent.get(pathname + search))
  const relayed = await agent.send({
    method: 'POST',
    path: pathname,
    // As a browser sends it from another site: without our cookies, and with its origin.
    headers: {
      cookie: [],
      'content-type': 'application/x-www-form-urlencoded',
      origin: 'http://provider.invalid',
      'sec-fetch-site': 'cross-site',
    },
    body: new URLSearchParams(callback.form).toString(),
  })
  assert.equal(relayed.status, 303, relayed.text)
  assert.deepEqual(relayed.setCookies, [])
  return followToProof(agent, await agent.get(relayed.location ?? ''))
}

/** A sign-in that needs a proof of the account leads to the page that asks for it. */
const followToProof = (agent: UserAgent, answer: Answer): Promise<Answer> | Answer =>
  answer.location && /^\/auth\/oauth\/[^/]+\/link\?/.test(answer.location) ? agent.get(answer.location) : answer

/** A whole sign-in, to the response of the callback. `visit` is what happens at the provider. */
export const signInBy = async (
  agent: UserAgent,
  name: string,
  visit: (authorizationUrl: string) => Promise<Callback>,
  form: Form = {},
): Promise<Answer> => returnFromProvider(agent, await visit(await startAt(agent, name, form)))

/** The parameters that a provider sends back. */
export const parametersOf = ({ url }: Callback): URLSearchParams => new URL(url).searchParams

/** The same callback with other parameters; a list is sent several times, undefined is left out. */
export const withParameters = (
  callback: Callback,
  changes: Record<string, string | readonly string[] | undefined>,
): Callback => {
  const url = new URL(callback.url)
  for (const [name, values] of Object.entries(changes)) {
    url.searchParams.delete(name)
    for (const value of [values ?? []].flat()) url.searchParams.append(name, value)
  }
  return { method: 'GET', url: url.href }
}

/** The page has `returnTo` in the form or the link of its next step. */
export const assertKeeps = ({ text }: Answer, returnTo: string): void =>
  assert.ok(
    text.includes(`name="return_to" value="${returnTo}"`) ||
      text.includes(`return_to=${encodeURIComponent(returnTo)}"`),
    text,
  )
