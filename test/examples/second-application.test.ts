// Runs on SQLite.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { logOut, signedUp } from '../support/client/accounts.ts'
import { createUserAgent, type UserAgent } from '../support/client/user-agent.ts'
import { allow, answerToClient, madeClient } from '../support/clients/authorization.ts'
import { PYTHON_PACKAGES, SECOND_APPLICATIONS, startCommand } from '../support/examples/examples.ts'
import { canRun, requirePrepared } from '../support/examples/running-example.ts'
import { startProgram } from '../support/gateway/gateway.ts'
import { freePort } from '../support/network/free-port.ts'
import { startService } from '../support/service/service.ts'
import { eventually } from '../support/wait.ts'

const svc = await startService({ env: { SVC_CLIENTS: 'on' } })

/** Starts the application with the command of its README, and a client as there. It ends with the file. */
const startApplication = async (name: string): Promise<string> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const options = ['--first-party', '--logout-uri', `${url}/`, '--backchannel-logout-uri', `${url}/backchannel-logout`]
  const { id, secret = '' } = await madeClient(svc, { name, redirectUri: `${url}/callback`, options })
  const env = {
    CLIENT_ID: id,
    CLIENT_SECRET: secret,
    OWN_URL: url,
    PORT: String(port),
    SVC_BASE_URL: svc.url,
    PYTHONPATH: PYTHON_PACKAGES,
  }
  await startProgram(startCommand(name, port), { port, cwd: requirePrepared(name), env })
  return url
}

/** The address at svc to which the application sends the browser. */
const pathAtSvc = (location = ''): string => {
  assert.ok(location.startsWith(`${svc.url}/auth/oauth2/`), location)
  return location.slice(svc.url.length)
}

/** Presses "Log in" in the application and "Continue" at svc; resolves to the path that leads back. */
const askSvc = async (app: UserAgent, user: UserAgent): Promise<string> => {
  const page = await user.get(pathAtSvc((await app.get('/login')).location))
  const answer = answerToClient(await allow(user, page), `${app.url}/callback`)
  return `/callback?${answer.toString()}`
}

const isLoggedIn = async (app: UserAgent): Promise<boolean> => (await app.get('/')).text.includes('Hello, ')
const isLoggedInAtSvc = async (user: UserAgent): Promise<boolean> =>
  (await user.get('/auth/api/v1/user')).status === 200

const enter = async (url: string) => {
  const { agent: user, person } = await signedUp(svc)
  const app = createUserAgent({ url })
  assert.equal((await app.get(await askSvc(app, user))).location, '/')
  assert.match((await app.get('/')).text, new RegExp(`Hello, ${person.username}\\.`))
  return { user, app }
}

for (const { name } of SECOND_APPLICATIONS) {
  describe(`examples/${name}`, { skip: !canRun(name) }, () => {
    let url = ''
    before(async () => {
      url = await startApplication(name)
    })

    test('a logout there ends the session at svc, which the first application asks for', async () => {
      const { user, app } = await enter(url)
      assert.ok(await isLoggedInAtSvc(user))
      const { location } = await app.send({ method: 'POST', path: '/logout' })
      assert.ok(!(await isLoggedIn(app)))
      const back = await user.get(pathAtSvc(location))
      assert.equal(back.location?.replace(/\?state=\w+$/, ''), `${url}/`, back.text)
      assert.ok(!(await isLoggedInAtSvc(user)))
    })

    test('a logout at svc ends the session there, and none of another user', async () => {
      const [{ user, app }, other] = [await enter(url), await enter(url)]
      await logOut(user)
      await eventually('the end of the session', async () => !(await isLoggedIn(app)))
      assert.ok(await isLoggedIn(other.app))
    })

    test('an answer of another server or to another browser, and a refusal, log nobody in', async () => {
      const { agent: user } = await signedUp(svc)
      const [app, thief] = [createUserAgent({ url }), createUserAgent({ url })]
      const answer = await askSvc(app, user)
      const issuer = encodeURIComponent(`${svc.url}/auth`)
      const denied = answer.replace(/code=[^&]+/, 'error=access_denied&error_description=no')
      const bad: [UserAgent, string][] = [
        [thief, answer],
        [app, answer.replace(`iss=${issuer}`, 'iss=https%3A%2F%2Fevil.example')],
        [app, answer.replace(`&iss=${issuer}`, '')],
        [app, denied],
      ]
      for (const [browser, path] of bad) {
        assert.equal((await browser.get(path)).status, 400, path)
        assert.ok(!(await isLoggedIn(browser)))
      }
      assert.equal((await app.get(answer)).location, '/', 'the right answer to the right browser')
    })

    test('what is no logout token is refused, an ID token too', async () => {
      const { user, app } = await enter(url)
      const { location = '' } = await app.send({ method: 'POST', path: '/logout' })
      const idToken = new URL(location).searchParams.get('id_token_hint') ?? assert.fail(location)
      await app.get(await askSvc(app, user))
      for (const token of [idToken, 'x.y.z', '']) {
        const body = new URLSearchParams({ logout_token: token })
        assert.equal((await fetch(`${url}/backchannel-logout`, { method: 'POST', body })).status, 400, token)
      }
      assert.ok(await isLoggedIn(app))
    })
  })
}
