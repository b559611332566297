// Runs once.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { MAY_IMPORT, SHARED_SCREENS } from '../scripts/imports.ts'
import { placeOf } from './support/runner/place.ts'
import path from 'node:path'

const SOURCE = path.join(import.meta.dirname, '../src')
const SDK_SOURCE = path.join(import.meta.dirname, '../sdk/src')
/** Its one dependency, and the frameworks that an application has anyway. */
const SDK_PACKAGES = /^(?:jose|fastify|hono|react|next\/\w+\.js)$/

interface SourceFile {
  /** Below `src/`, with slashes. */
  file: string
  text: string
}

/** A rule for code that only one place may contain. `breach` is a line that the test must find anywhere else. */
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
    title:
      'the HTTP server is created in http/, that of the metrics in metrics/listener.ts, and that of svc dev in dev/front.ts',
    pattern: /\bcreateServer\b.*from '.*\/node-http\.ts'/,
    places: /^http\/|^metrics\/listener\.ts$|^dev\/front\.ts$/,
    breach: `import { createServer } from '../lib/node-http.ts'`,
  },
  {
    // An import of the module would load Node's fetch and WebSocket, too.
    title: 'node:http is loaded by lib/node-http.ts, and node:https at its first use',
    pattern:
      /^import (?!type\b).*from 'node:https?'|\bimport\('node:https?'\)|\bgetBuiltinModule\('node:http'\)|\bfrom 'https?'/,
    places: /^lib\/node-http\.ts$/,
    breach: `import { type IncomingMessage, request } from 'node:https'`,
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
    pattern:
      /['"`](?:__(?:Host|Secure)-)?svc_(?:access|refresh|csrf|oauth|device)['"`]|\bsvc_(?:access|refresh|csrf|oauth|device)=/,
    places: /^http\/cookies\.ts$/,
    breach: 'reply.header("set-cookie", `svc_access=${token}`)',
  },
  {
    title: 'HTML is written in web/, admin/, dev/, mail/ and preview/',
    pattern:
      /<\/?(?:!doctype|html|head|body|main|form|h\d|div|p|a|b|br|button|input|label|ul|li|script|style|svg)\b[^<>()]*>/i,
    places: /^(?:web|admin|dev|mail|preview)\//,
    breach: 'reply.send(`<p class="problem">${message}</p>`)',
  },
  {
    title: 'text becomes HTML in lib/html.ts, whose template has no way around its escaping',
    pattern: /&(?:amp|lt|gt|quot|#39);|\bas (?:unknown as )?HtmlFragment\b/,
    places: /^lib\/html\.ts$/,
    breach: "const name = text.replaceAll('<', '&lt;')",
  },
  {
    title: 'the mail library is known in mail/',
    pattern: importOf('nodemailer'),
    places: /^mail\//,
    breach: `import { createTransport } from 'nodemailer'`,
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
    title: 'the library of one-time codes and that of QR codes are known in second-factor/',
    pattern: importOf('(?:otpauth|uqr)'),
    places: /^second-factor\//,
    breach: `import { TOTP } from 'otpauth'`,
  },
  {
    // A start that counts nothing does not load the library.
    title: 'metrics/ is loaded by those who need it',
    pattern: /^import (?!type\b).*from '(?:\.{1,2}\/)+(?:metrics\/)?(?:metrics|counts|readings)\.ts'/m,
    places: /^metrics\//,
    breach: `import { createMetrics } from '../metrics/metrics.ts'`,
  },
  {
    title: 'the libraries of svc dev are known in dev/',
    pattern: importOf('(?:httpxy|smtp-server|postal-mime)'),
    places: /^dev\//,
    breach: `import { createProxyServer } from 'httpxy'`,
  },
  {
    // No other command loads anything of it, and no service.
    title: 'dev/ is loaded by its own command',
    pattern: /(?:from|import\() ?'(?:\.{1,2}\/)+dev\/(?!dev\.ts'\)\).devCommand)/,
    places: /^dev\/|^cli\/dev\//,
    breach: `import { startDev } from '../dev/dev.ts'`,
  },
  {
    title: 'passwords are hashed in accounts/passwords/, behind the queue of passwords.ts',
    pattern: importOf('@node-rs/argon2'),
    places: /^accounts\/passwords\/(?:passwords|password-check|foreign-hashes\/[\w-]+)\.ts$/,
    breach: `import { hash } from '@node-rs/argon2'`,
  },
  {
    title: 'bcrypt is known in accounts/passwords/foreign-hashes/',
    pattern: importOf('@node-rs/bcrypt'),
    places: /^accounts\/passwords\/foreign-hashes\//,
    breach: `import { verify } from '@node-rs/bcrypt'`,
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
const REFERENCE = /(?:\bfrom|\bimport\(?|\bnew URL\()\s*['"](\.{1,2}\/[^'"]*\.[jt]s)['"]/g

const folderOf = (file: string): string => file.split('/')[0]?.replace(/\.ts$/, '') ?? ''

const isAllowed = (from: string, to: string): boolean => {
  const allowed = MAY_IMPORT[folderOf(from)] ?? []
  return folderOf(from) === folderOf(to) || allowed.includes(folderOf(to)) || allowed.includes(to)
}

const screenOf = (file: string): string | undefined => /^web\/([\w-]+)\//.exec(file)?.[1]

/** The screens that import another one, as `file imports target`. */
const findMixedScreens = (source: SourceFile): string[] => {
  const own = screenOf(source.file)
  const isForeign = (target: string): boolean => {
    const other = screenOf(target)
    return other !== undefined && other !== own && !SHARED_SCREENS.includes(other)
  }
  return own === undefined
    ? []
    : findImports(source).flatMap((target) => (isForeign(target) ? [`${source.file} imports ${target}`] : []))
}

/** Each subfolder as one file: what remains of a folder when nobody looks into them. */
const foldedInto = (folder: string, sources: readonly SourceFile[]): SourceFile[] => {
  const prefix = folder === '' ? '' : `${folder}/`
  const nodeOf = (file: string): string => `${file.slice(prefix.length).split('/')[0]}`
  const inside = sources.filter(({ file }) => file.startsWith(prefix))
  return [...Map.groupBy(inside, ({ file }) => nodeOf(file))].map(([node, parts]) => {
    const targets = parts.flatMap(findImports).filter((target) => target.startsWith(prefix))
    const others = new Set(targets.map(nodeOf).filter((other) => other !== node))
    return {
      file: node,
      text: [...others].map((other) => `import './${other}${other.endsWith('.ts') ? '' : '.ts'}'`).join('\n'),
    }
  })
}

const foldersOf = (file: string): string[] =>
  file
    .split('/')
    .slice(0, -1)
    .map((_, index, parts) => parts.slice(0, index + 1).join('/'))

/** The circles of a folder's own files and subfolders, at every depth, as `folder: one, other`. */
const findFolderCircles = (sources: readonly SourceFile[]): string[] => {
  const folders = ['', ...new Set(sources.flatMap(({ file }) => foldersOf(file)))]
  return folders.flatMap((folder) => {
    const nodes = foldedInto(folder, sources).map(({ file, text }) => ({
      file: file.endsWith('.ts') ? file : `${file}.ts`,
      text,
    }))
    return findCircles(nodes).map((circle) => `${folder || 'src'}: ${circle.join(', ')}`)
  })
}

/** The files that a file imports, below `src/`. */
const findImports = ({ file, text }: SourceFile): string[] =>
  [...withoutComments(text).matchAll(REFERENCE)].map(([, target = '']) =>
    path.posix.join(path.posix.dirname(file), target),
  )

/** Every import that goes where it may not, as `file:line imports target`. */
const findForbiddenImports = ({ file, text }: SourceFile): string[] => {
  const code = withoutComments(text)
  return [...code.matchAll(REFERENCE)].flatMap(({ 0: whole, 1: target = '', index }) => {
    const to = path.posix.join(path.posix.dirname(file), target)
    return isAllowed(file, to) ? [] : [`${file}:${lineOf(code, index + whole.length)} imports ${to}`]
  })
}

/** The files that import one another in a circle, types included: each circle once, as its files in order. */
const findCircles = (sources: readonly SourceFile[]): string[][] => {
  const importsOf = new Map(sources.map(({ file, text }) => [file, findImports({ file, text })]))
  const reach = (from: string): Set<string> => {
    const reached = new Set<string>()
    const open = [...(importsOf.get(from) ?? [])]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (!reached.has(next)) open.push(...(importsOf.get(next) ?? []))
      reached.add(next)
    }
    return reached
  }
  const reachOf = new Map(sources.map(({ file }) => [file, reach(file)]))
  const circleOf = (file: string) =>
    [...(reachOf.get(file) ?? [])].filter((other) => reachOf.get(other)?.has(file)).toSorted()
  const circles = sources.map(({ file }) => (reachOf.get(file)?.has(file) ? circleOf(file) : []))
  return [...new Map(circles.filter(({ length }) => length > 0).map((circle) => [circle.join(), circle])).values()]
}

const DEFINITION = /^export (?:async )?(?:const|class|function\*?|interface|type) (\w+)/gm

/** The exported names that more than one file defines, as `name: file, file`. A re-export is no definition. */
const findDoubleNames = (sources: readonly SourceFile[]): string[] => {
  const definitions = sources.flatMap(({ file, text }) =>
    [...withoutComments(text).matchAll(DEFINITION)].map(([, name = '']) => ({ name, file })),
  )
  return [...Map.groupBy(definitions, ({ name }) => name)]
    .filter(([, places]) => places.length > 1)
    .map(([name, places]) => `${name}: ${places.map(({ file }) => file).join(', ')}`)
}

/** A type that is taken from the inside of a function, where a written one can be read. */
const DUG_OUT_TYPE = /\b(?:ReturnType|Parameters)<(?:typeof\b|\w+\[')/

/** Every line with such a type, as `file:line text`. */
const findDugOutTypes = ({ file, text }: SourceFile): string[] => {
  const lines = withoutComments(text).split('\n')
  return lines.flatMap((line, index) => (DUG_OUT_TYPE.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : []))
}

// A command loads the domain only when it needs it: that halves the time of the others.
const VALUE_OF_DOMAIN =
  /^(?:import|export) (?!type\b).*from '(?:\.{1,2}\/)+(?:accounts|api-keys|audit|oauth|sessions|webhooks)\/[^']*'/

/** Every import of a value of the domain. */
const findLoadedDomain = ({ file, text }: SourceFile): string[] =>
  withoutComments(text)
    .split('\n')
    .flatMap((line, index) => (VALUE_OF_DOMAIN.test(line) ? [`${file}:${index + 1} ${line}`] : []))

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

describe('allowed imports', () => {
  test('no file imports a target that is closed to its folder', () => {
    assert.deepEqual(files.flatMap(findForbiddenImports), [])
  })

  test('every folder has its line in the table, and every line its folder', () => {
    const folders = new Set(files.map(({ file }) => folderOf(file)))
    assert.deepEqual([...folders].sort(), Object.keys(MAY_IMPORT).sort())
  })

  test('imports of every form are seen', () => {
    const text = [
      `import { a } from '../storage/sqlite/sqlite.ts'`,
      `import type { B } from '../storage/sqlite/sqlite.ts'`,
      `import type {`,
      `  C,`,
      `} from '../http/server.ts'`,
      `export { d } from '../web/routes.ts'`,
      `import '../main.ts'`,
      `const e = await import('../service.ts')`,
      `const f = new Worker(new URL('../storage/sqlite/checkpoint-task.js', import.meta.url))`,
      `// import { g } from '../http/server.ts'`,
      `import { h } from '../lib/time.ts'`,
      `import { i } from '../storage/database.ts'`,
      `import { j } from './email.ts'`,
    ].join('\n')
    assert.deepEqual(findForbiddenImports({ file: 'accounts/accounts.ts', text }), [
      'accounts/accounts.ts:1 imports storage/sqlite/sqlite.ts',
      'accounts/accounts.ts:2 imports storage/sqlite/sqlite.ts',
      'accounts/accounts.ts:5 imports http/server.ts',
      'accounts/accounts.ts:6 imports web/routes.ts',
      'accounts/accounts.ts:7 imports main.ts',
      'accounts/accounts.ts:8 imports service.ts',
      'accounts/accounts.ts:9 imports storage/sqlite/checkpoint-task.js',
    ])
  })

  test('no files import one another in a circle', () => {
    assert.deepEqual(findCircles(files), [])
  })

  test('a circle is found, over several folders and with type imports only', () => {
    const sources = [
      { file: 'accounts/accounts.ts', text: `import type { A } from '../lib/a.ts'\nimport { c } from './c.ts'` },
      { file: 'lib/a.ts', text: `import type { B } from '../accounts/b.ts'` },
      { file: 'accounts/b.ts', text: `import { users } from './accounts.ts'` },
      { file: 'accounts/c.ts', text: `import { d } from '../lib/d.ts'` },
      { file: 'lib/d.ts', text: '' },
    ]
    assert.deepEqual(findCircles(sources), [['accounts/accounts.ts', 'accounts/b.ts', 'lib/a.ts']])
  })

  test('no folders import one another in a circle, at any depth', () => {
    assert.deepEqual(findFolderCircles(files), [])
  })

  test('a circle of folders without a circle of files is found', () => {
    const sources = [
      { file: 'http/a.ts', text: `import { b } from './deep/b.ts'` },
      { file: 'http/deep/b.ts', text: '' },
      { file: 'http/deep/c.ts', text: `import type { D } from '../other/d.ts'` },
      { file: 'http/other/d.ts', text: `import { b } from '../deep/b.ts'` },
      { file: 'http/other/e.ts', text: `import { f } from '../../lib/f.ts'` },
      { file: 'lib/f.ts', text: '' },
    ]
    assert.deepEqual(findFolderCircles(sources), ['http: deep.ts, other.ts'])
  })

  test('no screen imports another one', () => {
    assert.deepEqual(files.flatMap(findMixedScreens), [])
  })

  test('a screen that imports another one is found, and a shared folder is none', () => {
    const text = `import { a } from '../logout/logout.ts'\nimport { b } from '../site/done.ts'\nimport { c } from './c.ts'`
    assert.deepEqual(findMixedScreens({ file: 'web/login/login.ts', text }), [
      'web/login/login.ts imports web/logout/logout.ts',
    ])
  })

  test('src/ has at most five loose files', () => {
    const loose = files.filter(({ file }) => !file.includes('/'))
    assert.ok(loose.length <= 5, `put one of these into a folder: ${loose.map(({ file }) => file).join(', ')}`)
  })

  test('a folder without a line in the table may import nothing', () => {
    const text = `import { now } from '../lib/time.ts'`
    assert.deepEqual(findForbiddenImports({ file: 'annex/new.ts', text }), ['annex/new.ts:1 imports lib/time.ts'])
  })
})

describe('names and types', () => {
  test('an exported name has one definition', () => {
    assert.deepEqual(findDoubleNames(files), [])
  })

  test('a second definition is found, and a re-export is none', () => {
    const sources = [
      { file: 'accounts/a.ts', text: 'export const createA = () => 1\nexport interface B {}' },
      { file: 'oauth/a.ts', text: `export { createA } from '../accounts/a.ts'\n// export const createA = 2` },
      { file: 'http/b.ts', text: 'export type B = string\nconst createA = 3' },
      { file: 'http/c.ts', text: 'export async function* createA() {}' },
    ]
    assert.deepEqual(findDoubleNames(sources), ['createA: accounts/a.ts, http/c.ts', 'B: accounts/a.ts, http/b.ts'])
  })

  test('types are written down, and not derived from a function', () => {
    // Each page is declared in its screen. This is a table of them all.
    const declared = files.filter(({ file }) => file !== 'preview/pages.ts')
    assert.deepEqual(declared.flatMap(findDugOutTypes), [])
  })

  test('a type that is derived from a function is found', () => {
    const text = [
      'export type Accounts = ReturnType<typeof createAccounts>',
      "type Key = Awaited<ReturnType<Core['keys']['list']>>[number]",
      'type Deps = Parameters<typeof createAccounts>[0]',
      'const checked = (): { [Name in keyof Checks]: ReturnType<Checks[Name]> } => {}',
    ].join('\n')
    assert.equal(findDugOutTypes({ file: 'accounts/a.ts', text }).length, 3)
  })

  test('the command line imports only types from the front doors of the domain', () => {
    const commands = files.filter(({ file }) => file.startsWith('cli/'))
    assert.deepEqual(commands.flatMap(findLoadedDomain), [])
  })

  test('a value import of a command is found', () => {
    const text = [
      `import type { User } from '../accounts/accounts.ts'`,
      `import { DELIVERY_OUTCOMES } from '../webhooks/webhooks.ts'`,
      `const { createAccounts } = await import('../accounts/accounts.ts')`,
    ].join('\n')
    assert.deepEqual(findLoadedDomain({ file: 'cli/x.ts', text }), [
      `cli/x.ts:2 import { DELIVERY_OUTCOMES } from '../webhooks/webhooks.ts'`,
    ])
  })
})

describe('code that only one place may contain', () => {
  for (const rule of RULES) {
    test(rule.title, () => {
      assert.deepEqual(
        files.flatMap((file) => findBreaches(rule, file)),
        [],
      )
    })

    test(`${rule.title}: found in any other place`, () => {
      const text = `// ${rule.breach}\n\n${rule.breach}\n`
      assert.deepEqual(findBreaches(rule, { file: 'accounts/email.ts', text }), [`accounts/email.ts:3 ${rule.breach}`])
    })

    test(`${rule.title}: used in its own place`, () => {
      const place = files.filter(({ file }) => rule.places.test(file))
      const uses = place.filter(({ text }) => rule.pattern.test(withoutComments(text)))
      assert.notEqual(uses.length, 0)
    })
  }
})

describe('test files', () => {
  for (const file of globSync('**/*.test.ts', { cwd: import.meta.dirname, exclude: ['**/node_modules/**'] })) {
    test(`${file} names the databases that it runs on`, () => {
      assert.ok(placeOf(path.join(import.meta.dirname, file)).databases.length > 0)
    })
  }

  test('a file that does not name them is an error that says what to write', () => {
    const file = path.join(import.meta.dirname, 'run.ts')
    assert.throws(() => placeOf(file), /run\.ts: the first line must be one of\n {2}\/\/ Runs on SQLite and/)
  })
})

describe('the SDK', () => {
  const own: SourceFile[] = globSync('**/*.ts', { cwd: SDK_SOURCE }).map((name) => ({
    file: name.replaceAll(path.sep, '/'),
    text: readFileSync(path.join(SDK_SOURCE, name), 'utf8'),
  }))
  const imported = /(?:\bfrom |\bimport |\bimport\()\s*['"]([^'"]+)['"]/g

  /** What an entry may not import, as `file imports target`. */
  const findForeign = ({ file, text }: SourceFile): string[] =>
    [...withoutComments(text).matchAll(imported)].flatMap(([, target = '']) => {
      const isOwn = target.startsWith('.') && !path.posix.join(path.posix.dirname(file), target).startsWith('..')
      // Only the entry for tests runs on Node alone.
      const isNode = target.startsWith('node:') && /^testing[./]/.test(file)
      return isOwn || isNode || SDK_PACKAGES.test(target) ? [] : [`${file} imports ${target}`]
    })

  test('imports its own files, the packages that it names, and Node in the entry for tests alone', () => {
    assert.ok(own.length > 5)
    assert.deepEqual(own.flatMap(findForeign), [])
  })

  test('imports nothing in a circle, and the service imports nothing of it', () => {
    assert.deepEqual(findCircles(own), [])
    assert.deepEqual(
      files.flatMap(({ file, text }) => (/['"](?:@svc\/|[./]+sdk\/)/.test(withoutComments(text)) ? [file] : [])),
      [],
    )
  })

  test('a foreign import is found', () => {
    const text = `import { a } from '../../src/lib/time.ts'\nimport { b } from 'node:fs'\nimport { c } from './user.ts'`
    const found = ['server.ts imports ../../src/lib/time.ts', 'server.ts imports node:fs']
    assert.deepEqual(findForeign({ file: 'server.ts', text }), found)
    assert.deepEqual(findForeign({ file: 'testing/start.ts', text: `import 'node:fs'` }), [])
    assert.equal(findForeign({ file: 'auth/a.ts', text: `import '../../b.ts'\nawait import('fs')` }).length, 2)
  })
})
