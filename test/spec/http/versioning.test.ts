// Runs on SQLite.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { signedUp } from '../../support/client/accounts.ts'
import { assertJsonError } from '../../support/client/assertions.ts'
import { type Answer, createUserAgent } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()
const anonymous = createUserAgent(service)

type Operation = {
  parameters?: { name: string; in: string; required?: boolean }[]
  responses: Record<string, { content?: Record<string, { schema: object }> }>
}
type Description = { openapi: string; paths: Record<string, Record<string, Operation>> }

const described = (await anonymous.get('/auth/api/v1/openapi.json')).json<Description>()
test('§1 the JSON API is versioned by path; the current version is /auth/api/v1', async () => {
  const { agent } = await signedUp(service)
  assert.equal((await agent.get('/auth/api/v1/user')).status, 200)
})

for (const path of ['/auth/api/v2/user', '/auth/api/v0/user', '/auth/api/user', '/auth/api/V1/user', '/auth/api/v1']) {
  test(`§1 additions of future versions do not exist yet: ${path}`, async () => {
    assertJsonError(await anonymous.get(path), 404, 'not_found')
  })
}

const userPath = '/auth/api/v1/user'
const refreshPath = '/auth/api/v1/sessions/refresh'

const operation = (path: string, method: string): Operation => {
  const found = described.paths[path]?.[method]
  assert.ok(found, `${method} ${path} is described`)
  return found
}

/** Checks that the description announces the response, and that the body fits the schema. */
const assertDescribed = (path: string, method: string, answer: Answer) => {
  const response = operation(path, method).responses[String(answer.status)]
  assert.ok(response, `${method} ${path} announces ${answer.status}`)
  const schema = response.content?.['application/json']?.schema
  if (schema === undefined) return assert.equal(answer.text, '')
  const ajv = new Ajv2020({ strict: false, formats: { uuid: true, email: true, 'date-time': true } })
  ajv.addSchema({ ...described, $id: 'description' })
  const text = JSON.stringify(schema).replaceAll('"#/', '"description#/')
  const validate = ajv.compile(JSON.parse(text))
  assert.ok(validate(answer.json()), JSON.stringify(validate.errors))
}

test('§4.1 the current API is reading the authenticated user and refreshing sessions, as OpenAPI 3.1 says', () => {
  assert.match(described.openapi, /^3\.1\./)
  assert.ok(operation(userPath, 'get'))
  const audience = operation(refreshPath, 'post').parameters?.find(({ name }) => name === 'audience')
  assert.deepEqual([audience?.in, audience?.required], ['query', true])
})

test('the description matches real responses', async () => {
  const { agent } = await signedUp(service)
  assertDescribed(userPath, 'get', await agent.get(userPath))
  assertDescribed(userPath, 'get', await anonymous.get(userPath))
  assertDescribed(refreshPath, 'post', await agent.refresh())
  assertDescribed(refreshPath, 'post', await agent.refresh(''))
  assertDescribed(refreshPath, 'post', await agent.refresh('audience=app', { 'x-csrf-token': 'x' }))
  assertDescribed(refreshPath, 'post', await createUserAgent(service).refresh())
})

test('the schema of the user is closed or complete: it requires every documented field', () => {
  const schema = JSON.stringify(described)
  for (const field of ['id', 'email', 'username', 'roles', 'disabled', 'created_at'])
    assert.match(schema, new RegExp(`"required":\\[[^\\]]*"${field}"`))
})
