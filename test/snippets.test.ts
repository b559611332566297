// Runs on SQLite.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { startService } from './support/service/service.ts'
import { allSnippets, type Snippet } from './support/snippets.ts'

const ROOT = path.join(import.meta.dirname, '..')
const LANGUAGES = ['js', 'jsx', 'ts', 'sh', 'python', 'go']

const DOCUMENTS = 'test/examples/documents.test.ts'
const OF_SDK = 'test/sdk/documents.test.ts'
const RECEIVERS = 'test/spec/webhooks/documented-receivers.test.ts'

/** The snippets that a test extracts and runs: the document, how they begin, and the test. */
const RUN: [document: string, beginnings: string[], by: string][] = [
  ['README.md', ['B=http', "import { createServer } from 'node:http'"], DOCUMENTS],
  ['docs/read-the-user.md', ['const AUTH', 'import json', 'package auth'], DOCUMENTS],
  ['docs/server-api.md', ['curl '], DOCUMENTS],
  ['docs/audit.md', ['curl '], DOCUMENTS],
  ['docs/start.md', ['B=http'], DOCUMENTS],
  ['README.md', ["import express from 'express'"], OF_SDK],
  ['docs/read-the-user.md', ['import { createAuth'], OF_SDK],
  ['sdk/docs/admin.md', ['import { AdminError'], OF_SDK],
  ['sdk/docs/express.md', ['import express'], OF_SDK],
  ['sdk/docs/fastify.md', ['import fastify'], OF_SDK],
  ['sdk/docs/hono.md', ['import { Hono }'], OF_SDK],
  ['sdk/docs/resource.md', ['import express', 'import { authorizationServer'], OF_SDK],
  [
    'sdk/docs/server.md',
    [
      'import { createAuth, SvcUnavailableError',
      'import { createAuth, hasMfa',
      'import { createAuth }',
      'import { createServer }',
    ],
    OF_SDK,
  ],
  ['sdk/docs/testing.md', ['import assert'], OF_SDK],
  ['docs/webhooks.md', ['import base64', 'package main'], DOCUMENTS],
  ['docs/webhooks.md', ['import { createHmac'], RECEIVERS],
]

const INTERACTIVE = 'it starts a debugger, or a service that stays'
const PARTS = 'it is a part of an application; examples/ has whole ones, which run'
const MACHINE = 'it changes the machine, or needs programs that the tests do not have'

/** The snippets that no test runs, and why. */
const NOT_RUN: [document: string, beginnings: string[], reason: string][] = [
  ['README.md', ['npm ci && npm run'], INTERACTIVE],
  ['README.md', ["import { verifyWebhook } from '@svc/sdk/webhooks'"], 'test/sdk/ calls the same function'],
  [
    'docs/debugging.md',
    ['npm run dev', 'npx node --inspect', 'npx node inspect', "NODE_OPTIONS: '--inspect", 'npx node --cpu-prof'],
    INTERACTIVE,
  ],
  ['docs/clients.md', ['import { exchangeCodeAsync'], 'it runs on phones; the same calls were run by hand, on Node'],
  ['docs/debugging.md', ['sqlite3 ', 'npx node --input-type=module'], 'it reads the database of an installation'],
  ['docs/deploy.md', [''], MACHINE],
  ['docs/move-users.md', ['PGTZ=UTC psql', 'psql '], 'it reads the database of another system'],
  ['docs/faults.md', ['node -e "'], 'it ends all sessions of an installation'],
  ['docs/protect.md', ['curl '], 'the tests of gateways send such requests'],
  ['docs/scaling.md', ['systemctl', 'for number', 'DOMAIN='], MACHINE],
  ['docs/server-api.md', ['const response = await fetch'], PARTS],
  ['docs/start.md', ['npm ci && npm'], INTERACTIVE],
  ['docs/start.md', ['npm install --save-dev'], 'test/deploy/package.test.ts packs svc, and runs svc dev'],
  [
    'docs/verify-locally.md',
    ["import { createRemoteJWKSet, jwtVerify } from 'jose'"],
    'test/sdk/ tests verifyAccessToken',
  ],
  ['docs/webhooks.md', ['echo "whsec_', "import { verifyWebhook } from '@svc/sdk/webhooks'"], PARTS],
  ['sdk/README.md', ['npm install'], MACHINE],
  ['docs/read-the-user.md', ['npm install'], MACHINE],
  ['sdk/docs/browser.md', ['import { authFetch'], 'it runs in pages, as test/browser/ tests the entry'],
  ['sdk/docs/next.md', ['// app/', '// proxy.js'], PARTS],
  ['sdk/docs/react.md', ['import { SignedIn', '// app/layout.jsx'], PARTS],
  ['sdk/docs/webhooks.md', ['import { verifyWebhook'], PARTS],
]

const isListed = (list: typeof RUN, { document, code }: Snippet): boolean =>
  list.some(([name, beginnings]) => document === name && beginnings.some((beginning) => code.startsWith(beginning)))

/** The lines of a snippet, with those that end in a backslash joined, and without comments. */
const linesOf = ({ code }: Snippet): string[] =>
  code
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s+)# .*$/, '').trim())
    .filter((line) => line !== '')

const isSettings = (snippet: Snippet): boolean => linesOf(snippet).every((line) => /^SVC_\w+=/.test(line))

/** The arguments of a command of svc, however it is started, up to `--`: what follows is a command of its own. */
const argumentsOf = (line: string): string[] | undefined =>
  /^(?:npm run (?:--silent )?svc -- |npx svc |svc )(.*?)(?: -- .*)?$/.exec(line)?.[1]?.split(/\s+/)

const commandsOf = (snippet: Snippet): string[][] => linesOf(snippet).flatMap((line) => [argumentsOf(line) ?? []])

const isCommands = (snippet: Snippet): boolean =>
  snippet.language === 'sh' && commandsOf(snippet).every((words) => words.length > 0)

const paragraphsOf = (text: string): string[] => text.split(/\n{2,}/).map((paragraph) => paragraph.trim())

const snippets = allSnippets()

describe('the code in documents', () => {
  test('a part of a file is in that file, in the same order', () => {
    const parts = snippets.filter(({ file }) => file !== undefined)
    assert.ok(parts.length > 10)
    for (const { document, file = '', code } of parts) {
      assert.ok(existsSync(path.join(ROOT, file)), `${document}: ${file}`)
      const text = readFileSync(path.join(ROOT, file), 'utf8')
      let from = 0
      for (const paragraph of paragraphsOf(code)) {
        const at = text.indexOf(paragraph, from)
        assert.ok(at >= 0, `${document}: ${file} does not hold, at this place:\n${paragraph}`)
        from = at + paragraph.length
      }
    }
  })

  test('each snippet of JavaScript, shell, Python and Go is run by a test, or the list says why not', () => {
    const unknown = snippets.filter(
      (snippet) =>
        LANGUAGES.includes(snippet.language) &&
        snippet.file === undefined &&
        !(snippet.language === 'sh' && isSettings(snippet)) &&
        !isCommands(snippet) &&
        !isListed(RUN, snippet) &&
        !isListed(NOT_RUN, snippet),
    )
    assert.deepEqual(
      unknown.map(({ document, firstLine }) => `${document}: ${firstLine}`),
      [],
    )
  })

  test('the lists name snippets and tests that exist', () => {
    for (const [document, beginnings, by] of [...RUN, ...NOT_RUN]) {
      for (const beginning of beginnings)
        assert.ok(
          snippets.some((snippet) => isListed([[document, [beginning], by]], snippet)),
          `${document}: ${beginning}`,
        )
    }
    for (const [, , file] of RUN) assert.ok(existsSync(path.join(ROOT, file)), file)
  })

  test('the commands of svc that they show exist, and have these options', async () => {
    const svc = await startService()
    for (const snippet of snippets.filter(isCommands)) {
      for (const words of commandsOf(snippet)) {
        const names = words.slice(0, 2).filter((word) => /^[a-z][a-z-]*$/.test(word))
        const { stdout } = await svc.cli([...names, '--help'])
        const where = `${snippet.document}: svc ${words.join(' ')}`
        assert.ok(names[0] === 'help' || stdout.startsWith(`Usage: svc ${names.join(' ')}`), `${where}\n${stdout}`)
        for (const option of words.filter((word) => /^--[a-z]/.test(word)))
          assert.ok(stdout.includes(option.replace(/=.*/, '')), `${where}: ${option}`)
      }
    }
  })
})
