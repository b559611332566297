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

type Parameter = { name: string; in: string; required?: boolean }
type Response = { headers?: Record<string, unknown>; content?: Record<string, { schema: { $ref?: string } }> }
type Operation = {
  operationId?: string
  tags?: string[]
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
const operations = Object.entries(described.paths).flatMap(([route, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${route}`, ...operation })),
)
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

/** The types of a client for the described service, as a module. */
const generated = astToString(await openapiTS(answer.text))
const FOLDER = import.meta.dirname

/** The compiler's errors in a program that uses the generated client; it writes no files. */
const compile = (program: string): string[] => {
  const sources = new Map([
    [path.join(FOLDER, 'generated.ts'), generated],
    [path.join(FOLDER, 'program.ts'), program],
  ])
  const options: ts.CompilerOptions = {
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
  const host = ts.createCompilerHost(options)
  const read = host.getSourceFile
  host.fileExists = (file) => sources.has(file) || ts.sys.fileExists(file)
  host.getSourceFile = (file, version, ...rest) => {
    const source = sources.get(file)
    return source === undefined ? read(file, version, ...rest) : ts.createSourceFile(file, source, version)
  }
  const compiled = ts.createProgram([...sources.keys()], options, host)
  return ts.getPreEmitDiagnostics(compiled).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

const using = (statements: string): string => `
  import createClient from 'openapi-fetch'
  import type { components, paths } from './generated.ts'
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
      'Error',
      'JwkSet',
      'OpenApiDocument',
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
