// A client of the MCP server, by the code for OAuth of the MCP SDK: `CLIENT_ID=… node client.js [note]`. Without
// CLIENT_ID it registers itself (SVC_CLIENT_REGISTRATION=on).
import { createServer } from 'node:http'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const { CLIENT_ID, SVC_BASE_URL = 'http://localhost:8000' } = process.env
const callback = createServer().listen(0, '127.0.0.1')
await once(callback, 'listening')

const redirectUrl = `http://127.0.0.1:${callback.address().port}/callback`
const kept = { client: CLIENT_ID && { client_id: CLIENT_ID }, state: randomUUID() }
const authProvider = {
  redirectUrl,
  clientMetadata: {
    client_name: 'Notes in the terminal',
    redirect_uris: [redirectUrl],
    token_endpoint_auth_method: 'none',
    scope: 'notes:read notes:write',
  },
  state: () => kept.state,
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  redirectToAuthorization: (address) => console.log(`Open ${address}`),
}

/** The code of svc, once the user has come back from there. */
const receiveCode = async () => {
  const [req, res] = await once(callback, 'request')
  const answer = new URL(req.url, redirectUrl).searchParams
  res.end('You can close this window.')
  if (answer.get('state') !== kept.state) throw new Error('This answer is to another question.')
  if (answer.get('iss') !== `${SVC_BASE_URL}/auth`) throw new Error('This answer is of another server.')
  if (!answer.has('code')) throw new Error(answer.get('error') ?? 'There is no code.')
  return answer.get('code')
}

const connect = async () => {
  const client = new Client({ name: 'notes-in-the-terminal', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${SVC_BASE_URL}/mcp`), { authProvider })
  try {
    await client.connect(transport)
    return client
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
  }
  await transport.finishAuth(await receiveCode())
  return connect()
}

const client = await connect()
const [note] = process.argv.slice(2)
const print = ({ content }) => console.log(content[0].text)
if (note) print(await client.callTool({ name: 'add_note', arguments: { note } }))
print(await client.callTool({ name: 'list_notes' }))
await client.close()
callback.close()
callback.closeAllConnections()
