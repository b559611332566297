import assert from 'node:assert/strict'
import type { Answer, UserAgent } from '../client/user-agent.ts'
import { codeAt } from './authenticator-app.ts'

export const SECOND_FACTOR_PAGE = '/auth/account/second-factor'

/** What a page offers to set up an app: the secret, and the field that comes back with the first code. */
export const readOfferedSetUp = ({ text }: Answer): { secret: string; sealed: string } => {
  const secret = /<code>([A-Z2-7 ]{39})<\/code>/.exec(text)?.[1]?.replaceAll(' ', '')
  const sealed = /name="set_up" value="([\w-]+)"/.exec(text)?.[1]
  assert.ok(secret && sealed, `no set-up on the page: ${text}`)
  return { secret, sealed }
}

/** The recovery codes that a page shows. */
export const readRecoveryCodes = ({ text }: Answer): string[] =>
  [...text.matchAll(/<li><code>([^<]+)<\/code>/g)].map(([, code = '']) => code)

/** An app that is set up. */
export type OwnApp = { secret: string; recoveryCodes: string[] }

/** A signed-in user sets up an app on their account page. */
export const setUpApp = async (agent: UserAgent, nowMs: number): Promise<OwnApp> => {
  const { secret, sealed } = readOfferedSetUp(await agent.get(SECOND_FACTOR_PAGE))
  const set = await agent.post(SECOND_FACTOR_PAGE, { set_up: sealed, code: codeAt(secret, nowMs) })
  assert.equal(set.status, 303, set.text)
  const recoveryCodes = readRecoveryCodes(await agent.get(set.location ?? ''))
  assert.equal(recoveryCodes.length, 10)
  return { secret, recoveryCodes }
}
