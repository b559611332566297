// An MCP server whose tools work for the user who has allowed it: svc gives the tokens, and this server checks them.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { protectedResource, requireToken, tokenOf } from '@svc/sdk/resource'
import express from 'express'
import { z } from 'zod'

const { PORT = '3000', SVC_BASE_URL = 'http://localhost:8000' } = process.env
// Clients ask the user for these scopes, since the answer to a request without a token names them.
const notes = { resource: `${SVC_BASE_URL}/mcp`, scopes: ['notes:read', 'notes:write'], name: 'Notes' }
// Reads with SVC_API_KEY what has ended: a client that the user has disconnected is refused within a second.
const withToken = requireToken({ ...notes, revocations: {} })

/** By the user: no other name of theirs stays the same. */
const notesOf = new Map()
const text = (value) => ({ content: [{ type: 'text', text: value }] })

/** A server for one request: it keeps nothing between them. */
const createServer = ({ sub }) => {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  server.registerTool('list_notes', { description: 'List the notes of the user' }, () =>
    text((notesOf.get(sub) ?? []).join('\n') || 'There are no notes.'),
  )
  const about = { description: 'Add a note', inputSchema: { note: z.string().min(1).max(1000) } }
  server.registerTool('add_note', about, ({ note }) => {
    notesOf.set(sub, [...(notesOf.get(sub) ?? []), note])
    return text('Added.')
  })
  return server
}

const app = express()
app.use(protectedResource(notes))

app.post('/mcp', withToken, express.json(), async (req, res) => {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
  const server = createServer(tokenOf(req))
  res.on('close', () => server.close())
  await server.connect(transport)
  await transport.handleRequest(req, res, req.body)
})
// There are no streams and no sessions to end.
app.all('/mcp', withToken, (_req, res) => void res.set('allow', 'POST').sendStatus(405))

app.listen(Number(PORT), '127.0.0.1', () => console.log(`${notes.resource} at port ${PORT}`))
