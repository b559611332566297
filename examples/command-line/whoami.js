// A command line that logs its user in through the browser, and says who they are (RFC 8252). It needs no package.
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { homedir } from 'node:os'
import path from 'node:path'

const { CLIENT_ID: client_id, SVC_BASE_URL = 'http://localhost:8000' } = process.env
const { KEPT = path.join(homedir(), '.whoami-token'), BROWSER = process.platform === 'darwin' ? 'open' : 'xdg-open' } =
  process.env
if (!client_id) throw new Error('CLIENT_ID is missing: svc clients create makes one')

/** Where svc says everything else. */
const discovery = await (await fetch(`${SVC_BASE_URL}/auth/.well-known/openid-configuration`)).json()
const random = () => randomBytes(32).toString('base64url')

const askForTokens = async (fields) => {
  const body = new URLSearchParams({ client_id, ...fields })
  const response = await fetch(discovery.token_endpoint, { method: 'POST', body })
  const answer = await response.json()
  // An outage says nothing about the token that is kept.
  if (response.status >= 500 || response.status === 429) throw new Error('svc is away: please try again.')
  if (!response.ok) return undefined
  // Only this user can read it. Each refresh token is good once.
  writeFileSync(KEPT, answer.refresh_token, { mode: 0o600 })
  return answer.access_token
}

const refresh = async () => {
  try {
    return await askForTokens({ grant_type: 'refresh_token', refresh_token: readFileSync(KEPT, 'utf8') })
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

const logIn = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // svc accepts every port of a loopback address.
  const redirect_uri = `http://127.0.0.1:${server.address().port}/callback`
  const [state, code_verifier] = [random(), random()]
  const address = new URL(discovery.authorization_endpoint)
  address.search = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    scope: 'openid profile email offline_access',
    state,
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  console.log(`Open ${address}`)
  spawn(BROWSER, [String(address)], { stdio: 'ignore', detached: true }).on('error', () => {})
  const [request, response] = await once(server, 'request')
  const answer = new URL(request.url, redirect_uri).searchParams
  response.end('You can close this window.')
  server.close()
  server.closeIdleConnections()
  if (answer.get('state') !== state || answer.get('iss') !== discovery.issuer)
    throw new Error('This answer is not for us.')
  if (!answer.has('code')) throw new Error(answer.get('error'))
  const token = await askForTokens({
    grant_type: 'authorization_code',
    code: answer.get('code'),
    redirect_uri,
    code_verifier,
  })
  if (!token) throw new Error('svc did not take the code.')
  return token
}

if (process.argv[2] === 'logout') {
  await fetch(discovery.revocation_endpoint, {
    method: 'POST',
    body: new URLSearchParams({ client_id, token: readFileSync(KEPT, 'utf8') }),
  })
  rmSync(KEPT)
  process.exit()
}

const token = (await refresh()) ?? (await logIn())
const { preferred_username, email } = await (
  await fetch(discovery.userinfo_endpoint, { headers: { authorization: `Bearer ${token}` } })
).json()
console.log(`${preferred_username} <${email}>`)
process.exit()
