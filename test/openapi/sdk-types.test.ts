// Runs once.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import openapiTS, { astToString } from 'openapi-typescript'
import { createUserAgent } from '../support/client/user-agent.ts'
import { startService } from '../support/service/service.ts'

const FILE = path.join(import.meta.dirname, '../../sdk/src/admin/api-types.ts')
const HEAD = '// What `npm run sdk:types` makes of /auth/api/v2/openapi.json.\n\n'

type Operation = { responses: Record<string, { headers?: unknown }> }
type Document = { servers: unknown; components: { headers: unknown }; paths: Record<string, Record<string, Operation>> }

/** What the types are made of: failures are one class of errors, and the address is that of the service of this test. */
const readTyped = (text: string): Omit<Document, 'servers'> => {
  const { servers: _, ...document }: Document = JSON.parse(text)
  document.components.headers = undefined
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
    operation.responses = Object.fromEntries(
      answers.map(([status, answer]) => [status, { ...answer, headers: undefined }]),
    )
  }
  // Without the properties that are undefined now.
  return JSON.parse(JSON.stringify(document))
}

test('the types of the SDK are those of the server API', async (t) => {
  const { text } = await createUserAgent(await startService({ env: { SVC_CLIENTS: 'on' }, t })).get(
    '/auth/api/v2/openapi.json',
  )
  const types = HEAD + astToString(await openapiTS(JSON.stringify(readTyped(text))))
  if (process.env.SVC_TEST_WRITE_TYPES === 'on') writeFileSync(FILE, types)
  assert.equal(readFileSync(FILE, 'utf8'), types, 'stale: run "npm run sdk:types"')
})
