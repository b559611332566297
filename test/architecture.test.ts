import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'

const SOURCE = path.join(import.meta.dirname, '../src')

interface SourceFile {
  /** Below `src/`, with slashes. */
  file: string
  text: string
}

/**
 * Who may import from where, types included (docs/architecture.md). A room is a folder of `src/` or a file right in it;
 * an entry with a slash is one file of a room, the only one that is open.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  lib: [],
  version: [],
  storage: ['lib'],
  users: ['lib', 'storage/database.ts'],
  sessions: ['lib', 'storage/database.ts'],
  webhooks: ['lib', 'storage/database.ts'],
  oauth: ['lib', 'storage/database.ts', 'users'],
  pages: ['lib'],
  http: ['lib', 'oauth', 'pages', 'users', 'sessions'],
  metrics: ['http/meter.ts', 'http/rate-limit.ts', 'lib', 'sessions', 'storage/database.ts', 'webhooks'],
  housekeeping: ['lib'],
  'root-secret': ['lib'],
  'setting-kinds': ['lib', 'storage/postgres-url.ts'],
  'provider-setting-kinds': ['lib', 'setting-kinds'],
  settings: ['lib', 'provider-setting-kinds', 'setting-kinds', 'webhooks/event-types.ts'],
  'setting-reading': ['lib', 'settings'],
  'provider-settings': ['oauth/presets.ts', 'provider-setting-kinds', 'setting-kinds', 'settings'],
  'provider-config': ['oauth/presets.ts', 'provider-setting-kinds', 'provider-settings', 'setting-reading'],
  'unknown-settings': ['lib', 'provider-setting-kinds', 'provider-settings', 'setting-reading', 'settings'],
  'config-warnings': ['lib', 'root-secret', 'setting-reading', 'settings'],
  config: [
    'config-warnings',
    'oauth/presets.ts',
    'provider-config',
    'provider-setting-kinds',
    'setting-reading',
    'settings',
    'unknown-settings',
    'webhooks/event-types.ts',
  ],
  installation: ['config', 'lib', 'root-secret', 'storage'],
  domain: ['config', 'installation', 'lib', 'oauth', 'sessions', 'users', 'webhooks'],
  service: [
    'config',
    'domain',
    'housekeeping',
    'http',
    'installation',
    'lib',
    'metrics',
    'pages',
    'sessions',
    'storage/leases.ts',
    'version',
  ],
  cli: [
    'config',
    'domain',
    'installation',
    'lib',
    'metrics/fleet.ts',
    'metrics/registry.ts',
    'pages/device.ts',
    'provider-settings',
    'root-secret',
    'service',
    'settings',
    'storage/copy.ts',
    'version',
  ],
  main: ['cli', 'config', 'lib'],
}

/** What one place alone may do. `breach` is a line that must be caught anywhere else. */
interface Rule {
  title: string
  pattern: RegExp
  places: RegExp
  breach: string
}

const importOf = (name: string) => new RegExp(String.raw`(?:from|import\(?)\s*['"]${name}(?:/[^'"]*)?['"]`)

const RULES: readonly Rule[] = [
  {
    title: 'the environment is read in main.ts',
    pattern: /\bprocess\.env\b/,
    places: /^main\.ts$/,
    breach: `const level = process.env.SVC_LOG_LEVEL`,
  },
  {
    title: 'the clock is read in lib/time.ts',
    pattern: /\bDate\.now\b|\bnew Date\b|\bDate\(\)/,
    places: /^lib\/time\.ts$/,
    breach: `const nowMs = Date.now()`,
  },
  {
    title: 'the web framework is known under http/',
    pattern: importOf('fastify'),
    places: /^http\//,
    breach: `import { fastify } from 'fastify'`,
  },
  {
    title: 'the database driver is known in storage/',
    pattern: importOf('node:sqlite'),
    places: /^storage\//,
    breach: `const { DatabaseSync } = await import('node:sqlite')`,
  },
  {
    // `SELECT 1` asks for nothing but an answer.
    title: 'SQL is written in storage/ and in *-store.ts',
    pattern:
      /\bSELECT (?!1\b)|\bINSERT INTO\b|\bUPDATE \w+ SET\b|\bDELETE FROM\b|\bCREATE (?:TABLE|INDEX)\b|\bPRAGMA \w/,
    places: /^storage\/|-store\.ts$/,
    breach: `await db.all('SELECT id FROM users')`,
  },
  {
    // A whole name in quotes, with a prefix or without, or one that a value follows.
    title: 'cookies are read and written in http/cookies.ts',
    pattern: /['"`](?:__(?:Host|Secure)-)?svc_(?:access|refresh|csrf|oauth)['"`]|\bsvc_(?:access|refresh|csrf|oauth)=/,
    places: /^http\/cookies\.ts$/,
    breach: 'reply.header("set-cookie", `svc_access=${token}`)',
  },
  {
    title: 'HTML is made by the template of lib/html.ts, which has no way around its escaping',
    pattern: importOf('hono'),
    places: /^lib\/html\.ts$/,
    breach: `import { raw } from 'hono/html'`,
  },
  {
    title: 'the metrics client is known in metrics/',
    pattern: importOf('prom-client'),
    places: /^metrics\//,
    breach: `import { Counter } from 'prom-client'`,
  },
  {
    title: 'the OAuth client is known in oauth/',
    pattern: importOf('openid-client'),
    places: /^oauth\//,
    breach: `const { discovery } = await import('openid-client')`,
  },
  {
    // A start that counts nothing does not load the library.
    title: 'metrics/ is loaded by those who need it',
    pattern: /^import (?!type\b).*from '\.{1,2}\/(?:metrics\/)?(?:metrics|fleet|registry)\.ts'/m,
    places: /^metrics\//,
    breach: `import { createMetrics } from '../metrics/metrics.ts'`,
  },
  {
    title: 'passwords are hashed in users/passwords.ts, behind its queue',
    pattern: importOf('@node-rs/argon2'),
    places: /^users\/passwords\.ts$/,
    breach: `import { hash } from '@node-rs/argon2'`,
  },
]

/** Comments stand on lines of their own in this code; they are emptied, so that line numbers stay true. */
const withoutComments = (text: string): string =>
  text
    .split('\n')
    .map((line) => (/^\s*(?:\/\/|\/\*|\*)/.test(line) ? '' : line))
    .join('\n')

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length

// `import … from`, `export … from`, `import '…'`, `import('…')`, and files that are opened beside the code.
const REFERENCE = /(?:\bfrom|\bimport\(?|\bnew URL\()\s*['"](\.{1,2}\/[^'"]*\.ts)['"]/g

const roomOf = (file: string): string => file.split('/')[0]?.replace(/\.ts$/, '') ?? ''

const isAllowed = (from: string, to: string): boolean => {
  const allowed = MAY_IMPORT[roomOf(from)] ?? []
  return roomOf(from) === roomOf(to) || allowed.includes(roomOf(to)) || allowed.includes(to)
}

/** Every import that goes where it may not, as `file:line imports target`. */
const findForbiddenImports = ({ file, text }: SourceFile): string[] => {
  const code = withoutComments(text)
  return [...code.matchAll(REFERENCE)].flatMap(({ 0: whole, 1: target = '', index }) => {
    const to = path.posix.join(path.posix.dirname(file), target)
    return isAllowed(file, to) ? [] : [`${file}:${lineOf(code, index + whole.length)} imports ${to}`]
  })
}

/** Every line that does what only another place may, as `file:line text`. */
const findBreaches = ({ pattern, places }: Rule, { file, text }: SourceFile): string[] => {
  if (places.test(file)) return []
  const lines = withoutComments(text).split('\n')
  return lines.flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : []))
}

const files: SourceFile[] = globSync('**/*.ts', { cwd: SOURCE }).map((name) => ({
  file: name.replaceAll(path.sep, '/'),
  text: readFileSync(path.join(SOURCE, name), 'utf8'),
}))

describe('who may import whom', () => {
  test('no file imports what its room may not', () => {
    assert.deepEqual(files.flatMap(findForbiddenImports), [])
  })

  test('every room has its line in the table, and every line its room', () => {
    const rooms = new Set(files.map(({ file }) => roomOf(file)))
    assert.deepEqual([...rooms].sort(), Object.keys(MAY_IMPORT).sort())
  })

  test('imports of every form are seen', () => {
    const text = [
      `import { a } from '../storage/sqlite.ts'`,
      `import type { B } from '../storage/sqlite.ts'`,
      `import type {`,
      `  C,`,
      `} from '../http/server.ts'`,
      `export { d } from '../pages/pages.ts'`,
      `import '../main.ts'`,
      `const e = await import('../service.ts')`,
      `const f = new Worker(new URL('../storage/checkpoint-worker.ts', import.meta.url))`,
      `// import { g } from '../http/server.ts'`,
      `import { h } from '../lib/time.ts'`,
      `import { i } from '../storage/database.ts'`,
      `import { j } from './email.ts'`,
    ].join('\n')
    assert.deepEqual(findForbiddenImports({ file: 'users/users.ts', text }), [
      'users/users.ts:1 imports storage/sqlite.ts',
      'users/users.ts:2 imports storage/sqlite.ts',
      'users/users.ts:5 imports http/server.ts',
      'users/users.ts:6 imports pages/pages.ts',
      'users/users.ts:7 imports main.ts',
      'users/users.ts:8 imports service.ts',
      'users/users.ts:9 imports storage/checkpoint-worker.ts',
    ])
  })

  test('a room that nobody has put in the table may import nothing', () => {
    const text = `import { now } from '../lib/time.ts'`
    assert.deepEqual(findForbiddenImports({ file: 'annex/new.ts', text }), ['annex/new.ts:1 imports lib/time.ts'])
  })
})

describe('what one place alone may do', () => {
  for (const rule of RULES) {
    test(rule.title, () => {
      assert.deepEqual(
        files.flatMap((file) => findBreaches(rule, file)),
        [],
      )
    })

    test(`${rule.title}: elsewhere it is caught`, () => {
      const text = `// ${rule.breach}\n\n${rule.breach}\n`
      assert.deepEqual(findBreaches(rule, { file: 'users/email.ts', text }), [`users/email.ts:3 ${rule.breach}`])
    })

    test(`${rule.title}: the place it has is a place that uses it`, () => {
      const place = files.filter(({ file }) => rule.places.test(file))
      const uses = place.filter(({ text }) => rule.pattern.test(withoutComments(text)))
      assert.notEqual(uses.length, 0)
    })
  }
})
