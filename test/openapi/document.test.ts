// Runs once.
import assert from 'node:assert/strict'
import path from 'node:path'
import { describe, test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { createUserAgent } from '../support/client/user-agent.ts'
import { startService } from '../support/service/service.ts'

const service = await startService()
const answer = await createUserAgent(service).get('/auth/api/v1/openapi.json')
const serverApi = await createUserAgent(service).get('/auth/api/v2/openapi.json')

type Parameter = { name: string; in: string; required?: boolean }
type Response = { headers?: Record<string, unknown>; content?: Record<string, { schema: { $ref?: string } }> }
type Operation = {
  operationId?: string
  tags?: string[]
  security?: unknown
  parameters?: Parameter[]
  responses: Record<string, Response>
}
type Description = {
  info: { version: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}

const described = answer.json<Description>()
const operationsOf = ({ paths }: Description) =>
  Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${route}`, ...operation })),
  )
const operations = operationsOf(described)
const refresh = described.paths['/auth/api/v1/sessions/refresh']?.post

/** The linter's messages, one per line. */
const lint = async (source: string): Promise<string[]> => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // The server is the service of this test, on this machine.
      'no-server-example.com': 'off',
      // Probes and public documents refuse nobody; what is not readable as HTTP is the default response.
      'operation-4xx-response': 'off',
    },
  })
  const problems = await lintFromString({ source, config })
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`)
}

/** The types of a client for the described services, as modules. */
const generated = { v1: astToString(await openapiTS(answer.text)), v2: astToString(await openapiTS(serverApi.text)) }
const FOLDER = import.meta.dirname

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowImportingTsExtensions: true,
  types: [],
}
/** What is the same for every program is read once. */
const parsed = new Map<string, ts.SourceFile | undefined>()
const last: Partial<Record<keyof typeof generated, ts.Program>> = {}

/** The compiler's errors in a program that uses the generated client; it writes no files. */
const compile = (program: string, version: keyof typeof generated = 'v1'): string[] => {
  const [types, using] = [path.join(FOLDER, `${version}.ts`), path.join(FOLDER, 'program.ts')]
  const host = ts.createCompilerHost(OPTIONS)
  const read = host.getSourceFile
  host.fileExists = (file) => file === types || file === using || ts.sys.fileExists(file)
  host.getSourceFile = (file, ...rest) => {
    if (file === using) return ts.createSourceFile(file, program, rest[0])
    if (!parsed.has(file))
      parsed.set(file, file === types ? ts.createSourceFile(file, generated[version], rest[0]) : read(file, ...rest))
    return parsed.get(file)
  }
  const compiled = ts.createProgram([types, using], OPTIONS, host, last[version])
  last[version] = compiled
  return ts.getPreEmitDiagnostics(compiled).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

const using = (statements: string, version: keyof typeof generated = 'v1'): string => `
  import createClient from 'openapi-fetch'
  import type { components, paths } from './${version}.ts'
  const client = createClient<paths>({ baseUrl: 'https://example.com' })
  ${statements}
  export { client }
`

describe('the OpenAPI document', () => {
  test('passes the strict rules of a linter', async () => {
    assert.deepEqual(await lint(answer.text), [])
  })

  test('is refused by the linter if it contains a mistake', async () => {
    const broken = answer.text.replace('"#/components/schemas/User"', '"#/components/schemas/Nobody"')
    assert.match((await lint(broken)).join('\n'), /no-unresolved-refs/)
  })

  test('gives each operation a unique name and a declared tag', () => {
    const names = operations.map(({ operationId }) => operationId)
    assert.ok(names.every((name) => /^[a-z][A-Za-z]+$/.test(name ?? '')))
    assert.equal(new Set(names).size, names.length)
    const tags = described.tags.map(({ name }) => name)
    for (const { name, tags: used = [] } of operations)
      assert.ok(used.length === 1 && tags.includes(used[0] ?? ''), name)
  })

  test('refers to named schemas that allow other members, which a later version may add', () => {
    for (const { name, responses } of operations) {
      for (const { content } of Object.values(responses)) {
        for (const { schema } of Object.values(content ?? {}))
          assert.match(schema.$ref ?? '', /^#\/components\/schemas\//, name)
      }
    }
    assert.deepEqual(Object.keys(described.components.schemas).toSorted(), [
      'AddedPasskey',
      'Error',
      'JwkSet',
      'OpenApiDocument',
      'PasskeyCreationOptions',
      'PasskeyEndpoints',
      'PasskeyRequestOptions',
      'SignedIn',
      'Status',
      'User',
    ])
    assert.doesNotMatch(answer.text, /additionalProperties/)
  })

  test('names the header and the cookies that a refresh requires, and the cookies that it sets', () => {
    const needed = refresh?.parameters?.map((parameter) => `${parameter.in} ${parameter.name} ${parameter.required}`)
    assert.deepEqual(needed, ['query audience true', 'header X-CSRF-Token true', 'cookie svc_csrf true'])
    assert.match(answer.text, /"in":"cookie","name":"svc_refresh"/)
    assert.ok(refresh?.responses['200']?.headers?.['Set-Cookie'])
    assert.ok(refresh?.responses['401']?.headers?.['Set-Cookie'])
  })

  test('documents Retry-After for every 503', () => {
    const announced = operations.flatMap(({ responses }) => responses['503'] ?? [])
    assert.ok(announced.length >= 4)
    for (const { headers } of announced) assert.ok(headers?.['Retry-After'])
  })

  test('has the version of the API, and not that of the program', () => {
    assert.equal(described.info.version, 'v1')
  })
})

describe('the OpenAPI document of the server API', () => {
  const api = serverApi.json<Description & { components: { securitySchemes: unknown } }>()
  const calls = operationsOf(api)

  test('passes the strict rules of a linter', async () => {
    assert.deepEqual(await lint(serverApi.text), [])
  })

  test('has the routes with an API key, each with its scope, and names what they share', () => {
    assert.equal(api.info.version, 'v2')
    assert.deepEqual(Object.keys(api.components.securitySchemes as object), ['api_key'])
    for (const { name, responses, parameters = [], operationId, security } of calls) {
      if (operationId === 'getOpenApi') continue
      assert.match(JSON.stringify(security), /^\[\{"api_key":\["[a-z]+:[a-z]+"\]\}\]$/, name)
      for (const status of ['401', '403', '429', '503']) assert.ok(responses[status], `${name}: ${status}`)
      assert.ok(responses['401']?.headers?.['WWW-Authenticate'], name)
      const isPost = name.startsWith('post ')
      assert.equal(
        parameters.some((parameter) => parameter.name === 'Idempotency-Key'),
        isPost,
        name,
      )
      for (const status of ['201', '409', '422'])
        if (isPost) assert.ok(responses[status]?.headers?.['Idempotency-Replayed'], `${name}: ${status}`)
      if (isPost) assert.ok(responses['409']?.headers?.['Retry-After'], name)
    }
    assert.ok(calls.length >= 4)
  })

  test('gives each operation a unique name and a declared tag', () => {
    assert.equal(new Set(calls.map(({ operationId }) => operationId)).size, calls.length)
    const tags = api.tags.map(({ name }) => name)
    for (const { name, tags: used = [] } of calls) assert.ok(used.length === 1 && tags.includes(used[0] ?? ''), name)
  })

  test('has the revocation feed as a list and as an event stream', () => {
    const { parameters = [], responses } = api.paths['/auth/api/v2/revocations']?.get ?? assert.fail()
    assert.deepEqual(
      Object.entries(responses['200']?.content ?? {}).map(([type, { schema }]) => [type, schema.$ref]),
      [
        ['application/json', '#/components/schemas/RevocationList'],
        ['text/event-stream', '#/components/schemas/RevocationStream'],
      ],
    )
    const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`)
    assert.deepEqual(names, ['query cursor', 'query wait', 'header Last-Event-ID'])
  })

  test('gives a client its types', () => {
    const listed = `const { data } = await client.GET('/auth/api/v2/users/{id}/sessions'`
    const program = (params: string, member: string) =>
      using(
        `
      ${listed}, { ${params} })
      const texts: (string | undefined)[] = [data?.sessions[0]?.${member}]
      await client.DELETE('/auth/api/v2/sessions/{id}', { params: { path: { id: texts[0] ?? '' } } })
    `,
        'v2',
      )
    const params = `params: { path: { id: '' } }`
    assert.deepEqual(compile(program(params, 'user_agent'), 'v2'), [])
    assert.match(compile(program(params, 'token'), 'v2').join('\n'), /'token' does not exist/)
    assert.notDeepEqual(compile(program('', 'id'), 'v2'), [])
  })
})

describe('a client that is generated from the OpenAPI document', () => {
  test('compiles, with the user, the audience and the CSRF token', () => {
    const program = using(`
      const { data, error } = await client.GET('/auth/api/v1/user')
      const user: components['schemas']['User'] | undefined = data
      const texts: (string | undefined)[] = [user?.id, user?.email, ...(user?.roles ?? []), error?.error.request_id]
      await client.POST('/auth/api/v1/sessions/refresh', {
        params: {
          query: { audience: 'app' },
          header: { 'X-CSRF-Token': texts[0] ?? '' },
          cookie: { svc_csrf: texts[0] ?? '' },
        },
      })
    `)
    assert.deepEqual(compile(program), [])
  })

  for (const [what, statement, complaint] of [
    ['a path that there is not', `await client.GET('/auth/api/v1/users')`, /not assignable/],
    [
      'a member that no user has',
      `const { data } = await client.GET('/auth/api/v1/user'); data?.password`,
      /'password' does not exist/,
    ],
    [
      'a refresh without an audience',
      `await client.POST('/auth/api/v1/sessions/refresh', { params: { header: { 'X-CSRF-Token': '' }, cookie: { svc_csrf: '' } } })`,
      /'query' is missing/,
    ],
  ] as const) {
    test(`does not compile with ${what}`, () => {
      assert.match(compile(using(statement)).join('\n'), complaint)
    })
  }
})
