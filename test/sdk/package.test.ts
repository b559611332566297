// Runs once.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { snippetsOf } from '../support/snippets.ts'
import { installPackedSdk } from '../support/sdk/packed-sdk.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const { folder, installed } = installPackedSdk()

type Manifest = { exports: Record<string, { types: string; default: string }>; dependencies: Record<string, string> }
const manifest = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')) as Manifest
const entries = Object.keys(manifest.exports)
  .filter((name) => name !== './package.json')
  .map((name) => name.slice(2))

const read = (file: string): string => readFileSync(path.join(installed, file), 'utf8')

const isForTests = (file: string): boolean => /dist\/testing[./]/.test(file)

test('links of the packed documents lead to files of the package', () => {
  const documents = globSync('{README,docs/*}.md', { cwd: installed })
  const links = documents.flatMap((name) =>
    [...read(name).matchAll(/\]\((?!https?:|#)([^)\s#]+)/g)].map(([, target = '']) =>
      path.join(path.dirname(name), target),
    ),
  )
  assert.ok(links.length > 10)
  assert.deepEqual(
    links.filter((file) => file.startsWith('..') || !existsSync(path.join(installed, file))),
    [],
  )
})

test('@svc/sdk/testing says where svc comes from, and names no package that npm would not find', () => {
  const code = "import { startSvc } from '@svc/sdk/testing'; await startSvc()"
  const { SVC_BIN: _, ...env } = process.env
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  assert.match(stderr, /@svc\/svc is not installed.*"npm pack".*SVC_BIN/)
  assert.doesNotMatch(stderr, /npm install/)
})

/** A program of an application that uses the entries with their types. */
const PROGRAM = `
import { createAuth, type SessionEnd, SvcUnavailableError, type User } from '@svc/sdk/server'
import type { WebSocket as WsSocket } from 'ws'
import { authFetch, getUser, logout, onSessionChange, refreshSession } from '@svc/sdk/browser'
import { AdminError, createAdmin, type AdminUser } from '@svc/sdk/admin'
import { authProxy, requireUser } from '@svc/sdk/next'
import { SignedIn, SvcProvider, useUser } from '@svc/sdk/react'
import { type ClientToken, type Handler, protectedResource, requireToken, tokenOf } from '@svc/sdk/resource'
import { startSvc } from '@svc/sdk/testing'
import { createElement, type ReactNode } from 'react'
import type { IncomingMessage } from 'node:http'

export const auth = createAuth({ url: 'http://127.0.0.1:8080', audience: undefined })
export const fromRequest = (request: Request): Promise<User | null> => auth.getUser(request)
export const fromNode = (request: IncomingMessage): Promise<User | null> => auth.getUser(request)
export const fromHeaders = (headers: Headers): Promise<User | null> => auth.getUser(headers)
export const roles = async (token: string): Promise<string[]> => (await auth.verifyAccessToken(token)).roles
export const wait = (error: unknown): number => (error instanceof SvcUnavailableError ? error.retryAfter : 0)
// @ts-expect-error a number is no timeout in words
createAuth({ timeoutMs: '5s' })

export const watching = createAuth({ revocations: { apiKey: 'svc_sk_x', stale: 'refuse' } })
// @ts-expect-error there is no such mode
createAuth({ revocations: { stale: 'wait' } })
export const closeAll = (user: User, sockets: WsSocket[], web: WebSocket): (() => void)[] =>
  [...sockets, web].map((socket) => watching.closeOnSessionEnd(socket, { sid: user.sid, sub: user.id }))
export const stop: () => void = watching.onSessionEnded(async ({ sid, reason, replacedBy }: SessionEnd) => {
  console.log(sid?.length, reason, replacedBy)
})
// @ts-expect-error a user is named by sub
watching.closeOnSessionEnd(closeAll, { sid: 'x', id: 'x' })

export const admin = createAdmin({ apiKey: 'svc_sk_x' })
export const invite = async (email: string): Promise<string | undefined> =>
  (await admin.users.create({ email, invite: true }, { idempotencyKey: email })).invite_url
export const firstUser = async (): Promise<AdminUser | undefined> => {
  for await (const user of admin.users.all({ role: 'admin', disabled: false })) return user
  return undefined
}
export const isTaken = (error: unknown): boolean => error instanceof AdminError && error.field === 'email'
// @ts-expect-error there is no such field
export const wrong = admin.users.update('id', { mail: 'ada@example.com' })

export const proxy = authProxy()
export const GET = requireUser((request, user, context: { params: Promise<{ id: string }> }) =>
  Response.json({ url: request.url, email: user.email, params: context.params }),
)
export const page = async (): Promise<string> => (await requireUser({ returnTo: '/' })).email

const notes = { resource: 'https://example.com/mcp', scopes: ['notes:read'] }
export const admit: Handler = requireToken(notes)
export const serve = async (request: Request): Promise<Response> =>
  (await protectedResource(notes)(request)) ?? (await admit(request)) ?? Response.json(tokenOf(request).client_id)
export const clientOf = ({ client_id }: ClientToken): string => client_id
// @ts-expect-error a resource is needed
requireToken({ scopes: ['notes:read'] })

export const header = (user: User | null | undefined): ReactNode =>
  createElement(SvcProvider, { user }, createElement(SignedIn, {}, createElement('b', {}, useUser()?.email)))

export const inBrowser = async (): Promise<void> => {
  const user: User | null = await getUser()
  const renewed: boolean = await refreshSession()
  const response: Response = await authFetch('/api', { method: 'POST' })
  onSessionChange(({ signedIn }) => void signedIn)()
  if (user && renewed && response.ok) await logout()
}

export const tested = async (): Promise<void> => {
  await using svc = await startSvc({ env: { SVC_SIGNUP: 'off' } })
  const user = await svc.createUser({ roles: ['admin'] })
  const { cookie, cookies } = await svc.signIn(user)
  const [subject, type]: (string | undefined)[] = [svc.messages[0]?.subject, svc.webhooks[0]?.type]
  await svc.moveClock('15m')
  console.log(cookie, cookies[0]?.sameSite, subject, type)
}
`

/** What it has for frameworks, which bring types of their own. */
const WITH_FRAMEWORKS = `
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import * as forExpress from '@svc/sdk/express'
import * as forFastify from '@svc/sdk/fastify'
import * as forHono from '@svc/sdk/hono'

import type { WSContext } from 'hono/ws'
import type { Socket } from 'socket.io'

export const closeOthers = ({ id: sub, sid }: User, io: Socket, ofHono: WSContext): void => {
  watching.closeOnSessionEnd(io, { sid, sub })
  watching.closeOnSessionEnd(ofHono, { sid, sub })
}

export const app = express()
app.use('/members', forExpress.requireUser({ auth }), (req, res) => void res.send([req.user?.email, forExpress.userOf(req).email]))

app.use('/mcp', protectedResource(notes), requireToken(notes), (req, res) => void res.send(tokenOf(req).sub))

export const server = fastify()
server.get('/mcp', { onRequest: requireToken(notes) }, async (request) => tokenOf(request).sub)
server.get('/', { onRequest: forFastify.requireUser() }, async (request) => request.user?.username ?? '')
server.addHook('onRequest', forFastify.loadUser())

export const hono = new Hono()
hono.get('/members', forHono.requireUser(), (c) => c.text(c.get('user').email))
// @ts-expect-error here the user may be missing
hono.get('/', forHono.loadUser(), (c) => c.text(c.get('user').email))
hono.get('/mcp', requireToken(notes), (c) => c.json(tokenOf(c)))
export const members = new Hono<forHono.UserEnv>()
members.use(forHono.requireUser())
members.get('/', (c) => c.text(c.get('user').email))
`

const COMPILERS = {
  // Several threads would be sooner done, and repeat each other's work.
  'TypeScript 7': [path.join(ROOT, 'node_modules/typescript/bin/tsc'), '--singleThreaded'],
  'TypeScript 5': [path.join(ROOT, 'test/openapi/node_modules/typescript/bin/tsc')],
}

type Run = [
  compiler: keyof typeof COMPILERS,
  module: string,
  moduleResolution: string,
  program: string,
  skipLibCheck: boolean,
]

/**
 * The older compiler would need many seconds for the types of the frameworks. Each compiler checks the declarations
 * once; with other ways to find modules, the program shows that they are found.
 */
const RUNS: Run[] = [
  ['TypeScript 7', 'node16', 'node16', PROGRAM + WITH_FRAMEWORKS, true],
  ['TypeScript 7', 'nodenext', 'nodenext', PROGRAM + WITH_FRAMEWORKS, false],
  ['TypeScript 7', 'esnext', 'bundler', PROGRAM + WITH_FRAMEWORKS, true],
  ['TypeScript 5', 'node16', 'node16', PROGRAM, false],
]

const STRICT = {
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
  strict: true,
  skipLibCheck: true,
}

/** What the documents leave to the application. */
const GIVEN = `
declare const request: Request
declare function forget(userId: string): Promise<void>
declare function saveName(userId: string, name: unknown): Promise<void>
`

/** The text of a bundle of one entry, without what the application has installed itself. */
const bundle = async (code: string): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: folder },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
    logLevel: 'silent',
    external: ['jose', 'node:*', 'next/*', 'react'],
  })
  return outputFiles[0]?.text ?? ''
}

describe('the package @svc/sdk', () => {
  test('has each entry with types, its document, and a line in the README', () => {
    for (const entry of entries) {
      const { types, default: code } = manifest.exports[`./${entry}`] ?? assert.fail(entry)
      for (const file of [types, code, `docs/${entry}.md`]) assert.ok(existsSync(path.join(installed, file)), file)
      assert.ok(read('README.md').includes(`[\`@svc/sdk/${entry}\`](docs/${entry}.md)`), entry)
    }
    assert.deepEqual(Object.keys(manifest.dependencies), ['jose'])
    // Compilers before TypeScript 5.7 know no other ending.
    for (const file of globSync('dist/**/*.d.ts', { cwd: installed }))
      assert.doesNotMatch(read(file), /'\.[^']*\.ts'/, file)
  })

  test('is what npm packages should be', async () => {
    const { messages } = await publint({ pkgDir: installed, pack: false, strict: true })
    assert.deepEqual(
      messages.map((message) => formatMessage(message, manifest)),
      [],
    )
  })

  test('imports nothing of Node, but in the entry for tests', () => {
    const files = globSync('dist/**/*.js', { cwd: installed })
    assert.ok(files.length > 20)
    for (const file of files.filter((one) => !isForTests(one))) {
      assert.doesNotMatch(read(file), /['"]node:|\brequire\(|\b(?:Buffer|__dirname|process\.[a-z]+\()/, file)
    }
    assert.ok(files.some((file) => isForTests(file) && read(file).includes('node:')))
  })

  test('says on a server what the entry for pages is for', async () => {
    const entry = path.join(installed, 'dist/browser.js')
    const browser = (await import(entry)) as Record<string, (...args: unknown[]) => unknown>
    for (const name of ['getUser', 'refreshSession', 'logout', 'authFetch', 'onSessionChange'])
      await assert.rejects(
        async () => browser[name]?.('/a'),
        { name: 'TypeError', message: /On a server, @svc\/sdk\/server/ },
        name,
      )
  })

  for (const [compiler, module, moduleResolution, program, skipLibCheck] of RUNS) {
    test(`has types for ${compiler} with moduleResolution ${moduleResolution}`, () => {
      const target = {
        module,
        moduleResolution,
        target: 'es2023',
        lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
      }
      // Of the declarations, those that the compiler brings itself are not in question.
      const checks = { strict: true, skipLibCheck, skipDefaultLibCheck: true }
      const compilerOptions = { ...target, ...checks, noEmit: true, types: ['node'] }
      writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
      writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
      writeFileSync(path.join(folder, 'consumer.ts'), program)
      const run = spawnSync(process.execPath, COMPILERS[compiler], { cwd: folder, encoding: 'utf8' })
      assert.deepEqual([run.stdout, run.status], ['', 0])
    })
  }

  test('has types that accept the code of the documents under strict', () => {
    const documents = [
      'README.md',
      'docs/read-the-user.md',
      'docs/webhooks.md',
      ...globSync('sdk/docs/*.md', { cwd: ROOT }),
    ]
    const programs = documents
      .flatMap(snippetsOf)
      .filter(({ language, code }) => /^jsx?$/.test(language) && code.includes("'@svc/sdk/"))
    assert.ok(programs.length > 12)
    const files = programs.map(({ document, code }, index) => {
      const file = `${document.replaceAll(/\W/g, '-')}-${index}.tsx`
      writeFileSync(path.join(folder, file), code)
      return file
    })
    writeFileSync(path.join(folder, 'given.d.ts'), GIVEN)
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
    // The documents are JavaScript: their parameters have no types.
    const compilerOptions = {
      ...STRICT,
      noImplicitAny: false,
      noEmit: true,
      jsx: 'react-jsx',
      types: ['node', 'react'],
    }
    writeFileSync(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['given.d.ts', ...files] }),
    )
    const run = spawnSync(process.execPath, COMPILERS['TypeScript 7'], { cwd: folder, encoding: 'utf8' })
    assert.deepEqual([run.stdout, run.status], ['', 0])
  })

  test('bundles an entry without the others', async () => {
    const express = await bundle(`import { requireUser } from '@svc/sdk/express'; console.log(requireUser)`)
    assert.match(express, /Nobody is signed in/)
    assert.doesNotMatch(express, /svc_fresh|x-svc-path|whsec|startSvc/)
    const error = await bundle(
      `import { SvcUnavailableError } from '@svc/sdk/server'; console.log(SvcUnavailableError)`,
    )
    assert.ok(error.length < 1500, `${error.length} characters for one class`)
    const nothing = await bundle(entries.map((entry) => `import '@svc/sdk/${entry}'`).join('\n'))
    assert.doesNotMatch(nothing, /\S.*=/, 'an import alone has no effect')
  })
})
