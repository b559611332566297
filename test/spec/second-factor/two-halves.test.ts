// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { currentUser, logIn, newAgent, signedUp } from '../../support/client/accounts.ts'
import { assertPage, assertRedirect } from '../../support/client/assertions.ts'
import { createBackend } from '../../support/client/backend.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { turnedClock } from '../../support/clock/turned-clock.ts'
import { createAuthenticator } from '../../support/passkeys/authenticator.ts'
import { addPasskey, loginOptions } from '../../support/passkeys/passkeys.ts'
import { startVerification, verifyBy } from '../../support/recovery/verification.ts'
import {
  type AccountWithCodes,
  newAccountWithCodes,
  setUpCodes,
} from '../../support/second-factor/account-with-codes.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { at, openOperator, startReplicas } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const clock = turnedClock()
const CODE_PAGE = '/auth/login/code'
const claimsOf = (agent: UserAgent) => decodeJwt(agent.cookies.get('svc_access') ?? '')

const halfWay = async (service: { url: string }, account: AccountWithCodes) => {
  const agent = newAgent(service)
  assertRedirect(await logIn(agent, account.person), CODE_PAGE)
  return agent
}

const [one, other] = await startReplicas({ clock })
const operatorOfBoth = await openOperator(one)

describe('on two replicas', () => {
  const core = operatorOfBoth

  test('a login begins on one and ends on the other, once', async () => {
    const account = await newAccountWithCodes({ service: one, core, clock })
    const agent = await halfWay(one, account)
    const copy = agent.copy()
    const there = at(other, agent)
    assertRedirect(await there.post(CODE_PAGE, { code: await account.nextCode() }), '/')
    assert.equal((await currentUser(there)).id, account.id)
    const again = await copy.post(CODE_PAGE, { code: await account.nextCode() })
    assertRedirect(again, '/auth/login?done=sign_in_ended')
  })

  test('a logout on one ends what waits on the other', async () => {
    const account = await newAccountWithCodes({ service: one, core, clock })
    const agent = await halfWay(one, account)
    const copy = agent.copy()
    await at(other, agent).post('/auth/logout')
    assertRedirect(await copy.post(CODE_PAGE, { code: await account.nextCode() }), '/auth/login?done=sign_in_ended')
  })
})

const service = await startService({ clock })
const core = await openOperator(service)
const backend = await createBackend(service, ['sessions:write'])

describe('what ends all sessions of a user ends their sign-ins that wait', () => {
  const endings: [string, (account: AccountWithCodes) => Promise<unknown>][] = [
    ['svc sessions revoke USER', ({ id }) => runCommandOf(service, ['sessions', 'revoke', id])],
    ['svc sessions revoke --all', () => runCommandOf(service, ['sessions', 'revoke', '--all', '--yes'])],
    ['DELETE /users/{id}/sessions', ({ id }) => backend.call('DELETE', `/users/${id}/sessions`)],
    [
      'the account page, for all other devices',
      async (account) => {
        const owner = await halfWay(service, account)
        assertRedirect(await owner.post(CODE_PAGE, { code: await account.nextCode() }), '/')
        await owner.post('/auth/account/sessions', { all_others: '1' })
      },
    ],
  ]
  for (const [what, end] of endings)
    test(what, async () => {
      const account = await newAccountWithCodes({ service, core, clock })
      const waiting = await halfWay(service, account)
      await end(account)
      assertRedirect(
        await waiting.post(CODE_PAGE, { code: await account.nextCode() }),
        '/auth/login?done=sign_in_ended',
      )
    })
})

const verifying = await startVerification({ mode: 'optional', clock })
const operatorOfVerifying = await openOperator(verifying.service)

describe('a link that verifies the email', () => {
  const { service, signUp, database } = verifying
  const core = operatorOfVerifying

  /** The account of a browser that has asked for the link, and is signed out. */
  const withLink = async () => {
    const { agent, person, token } = await signUp()
    const { id } = await currentUser(agent)
    return { agent, token, account: await setUpCodes({ core, clock }, { id, person }) }
  }

  const knownBrowsersOf = (userId: string) => database.rows('SELECT id FROM known_browsers WHERE user_id = ?', userId)

  test('verifies in the browser that asked for it, and asks for the code before a session starts', async () => {
    const { agent, token, account } = await withLink()
    assertRedirect(await verifyBy(agent, token), `${CODE_PAGE}?return_to=%2Fkept`)
    assert.equal((await agent.get('/auth/api/v1/user')).status, 401)
    assert.ok((await core.users.find(account.id))?.emailVerifiedAtMs, 'verified')
    assert.deepEqual(await knownBrowsersOf(account.id), [])
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode() }), '/kept')
    const { amr, auth_time: authTime } = claimsOf(agent)
    assert.deepEqual([amr, authTime], [undefined, undefined], 'a link and a code prove no password')
    assert.equal((await knownBrowsersOf(account.id)).length, 1)
  })

  test('elsewhere, with the password, the same', async () => {
    const { token, account } = await withLink()
    const agent = newAgent(service)
    assertRedirect(await verifyBy(agent, token, { password: account.person.password }), CODE_PAGE)
    assert.equal(agent.cookies.get('svc_access'), undefined)
    assertRedirect(await agent.post(CODE_PAGE, { code: await account.nextCode() }), '/')
    assert.deepEqual(claimsOf(agent).amr, ['pwd', 'otp', 'mfa'])
  })
})

const requiring = await startService({ clock, env: { SVC_SECOND_FACTOR: 'required' } })

describe('a passkey in place of the code', () => {
  const service = requiring

  /** From before a second factor was required. */
  const newAccountWithPasskey = async () => {
    const open = await startService({
      clock,
      cwd: service.directory,
      env: { ...service.env, SVC_SECOND_FACTOR: 'optional', SVC_PORT: '0', SVC_BASE_URL: service.url },
    })
    const { agent, person } = await signedUp(open)
    const authenticator = createAuthenticator({ origin: service.url })
    const { id } = await currentUser(agent)
    await addPasskey(agent, authenticator)
    await open.stop()
    return { id, person, authenticator }
  }

  const withPasskey = async () => {
    const account = await newAccountWithPasskey()
    const agent = newAgent(service)
    assertRedirect(await logIn(agent, account.person), CODE_PAGE)
    return { ...account, agent }
  }

  test('where a second factor is required, an account with passkeys alone is asked for one', async () => {
    const { agent, authenticator, id } = await withPasskey()
    const shown = await agent.get(CODE_PAGE)
    assertPage(shown)
    assert.match(shown.text, /data-passkey="fill"/)
    const response = JSON.stringify(authenticator.authenticate(await loginOptions(agent)))
    assertRedirect(await agent.post(CODE_PAGE, { passkey_response: response }), '/')
    assert.equal((await currentUser(agent)).id, id)
    assert.deepEqual(claimsOf(agent).amr, ['hwk', 'mfa'])
  })

  test('the passkey of another account, and a used response, prove nothing', async () => {
    const { agent } = await withPasskey()
    const other = await withPasskey()
    const foreign = JSON.stringify(other.authenticator.authenticate(await loginOptions(agent)))
    assertPage(await agent.post(CODE_PAGE, { passkey_response: foreign }), 401)
    const own = JSON.stringify(other.authenticator.authenticate(await loginOptions(other.agent)))
    const copy = other.agent.copy()
    assertRedirect(await other.agent.post(CODE_PAGE, { passkey_response: own }), '/')
    const again = newAgent(service)
    again.cookies.set('svc_link', copy.cookies.get('svc_link') ?? '', '/auth')
    assertRedirect(await logIn(again, other.person), CODE_PAGE)
    assertPage(await again.post(CODE_PAGE, { passkey_response: own }), 400)
    assert.equal(again.cookies.get('svc_access'), undefined)
  })
})
