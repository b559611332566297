// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currentUser, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import {
  ask,
  CODE,
  openLink,
  pressLink,
  startSignInByMail,
  typeCode,
  WRONG,
} from '../../support/recovery/sign-in-by-mail.ts'
import { accessToken, claimsOf } from '../../support/service/access-tokens.ts'

const { service, asked, newAgent } = await startSignInByMail()

describe('§4.21 a code', () => {
  test('signs in in the browser that asked, and proves the address', async () => {
    const { person } = await signedUp(service)
    const agent = newAgent()
    const { code, mail } = await asked(agent, person.email, { return_to: '/kept' })
    console.log(mail.subject, mail.text, mail.links)
    const answer = await typeCode(agent, code)
    assertRedirect(answer, '/kept')
    assert.equal((await currentUser(agent)).email, person.email)
    assert.deepEqual(claimsOf(accessToken(agent)).amr, ['otp'])
  })
})
