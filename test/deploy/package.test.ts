// Runs once.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { once } from 'node:events'
import path from 'node:path'
import { before, describe, test } from 'node:test'
import { createDevRoutes } from '../../src/dev/routes.ts'
import { logIn, logOut, signedUp } from '../support/client/accounts.ts'
import { assertSignedIn } from '../support/client/assertions.ts'
import { createUserAgent } from '../support/client/user-agent.ts'
import { runSvc, spawnSvc } from '../support/service/command.ts'
import { startServiceProcess } from '../support/service/service-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const COPIED = [
  '.npmrc',
  'bin',
  'docs',
  'scripts',
  'src',
  'LICENSE',
  'README.md',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
]

const readManifest = (folder: string): { dependencies: unknown; optionalDependencies?: unknown } =>
  JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))

/** The packages that `npm install` of the package would bring: those of the lock file that are not for developers. */
const dependencies = (): string[] => {
  const { packages }: { packages: Record<string, { dev?: true; link?: true }> } = JSON.parse(
    readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'),
  )
  return Object.entries(packages)
    .filter(([folder, { dev, link }]) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(folder) && !dev && !link)
    .map(([folder]) => folder.replace('node_modules/', ''))
    .filter((name) => existsSync(path.join(ROOT, 'node_modules', name)))
}

const linkPackages = (names: readonly string[], to: string) => {
  for (const name of names) {
    mkdirSync(path.dirname(path.join(to, name)), { recursive: true })
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(to, name))
  }
}

/** Runs `npm pack` in a copy of the repository, and unpacks the package into `node_modules` of another folder. */
const installPacked = (): { folder: string; files: string[] } => {
  const [copy, folder] = [temporaryDirectory(), temporaryDirectory()]
  for (const part of COPIED) cpSync(path.join(ROOT, part), path.join(copy, part), { recursive: true })
  linkPackages(['.bin', 'typescript', '@types'], path.join(copy, 'node_modules'))
  linkPackages(dependencies(), path.join(copy, 'node_modules'))
  const npm = { cwd: copy, env: { PATH: process.env.PATH, HOME: folder }, stdio: 'pipe', encoding: 'utf8' } as const
  execFileSync('npm', ['pack', '--pack-destination', folder], npm)
  const [file = assert.fail('npm pack wrote nothing')] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  const installed = path.join(folder, 'node_modules/@svc/svc')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', path.join(folder, file), '-C', installed, '--strip-components=1'])
  linkPackages(dependencies(), path.join(folder, 'node_modules'))
  return { folder, files: readdirSync(installed, { recursive: true, encoding: 'utf8' }) }
}

describe('the package that npm pack makes', () => {
  let packed: ReturnType<typeof installPacked>
  let launcher: string
  before(() => {
    packed = installPacked()
    launcher = path.join(packed.folder, 'node_modules/@svc/svc/bin/svc.js')
  })

  test('holds JavaScript and what is read beside it, the documents, and no TypeScript and no tests', () => {
    for (const name of ['dist/main.js', 'dist/web/site/style.css', 'docs/configuration.md', 'LICENSE', 'README.md'])
      assert.ok(packed.files.includes(name), name)
    assert.deepEqual(
      packed.files.filter((name) => /\.ts$|^(?:src|test|bench|scripts|runtime|data)(?:\/|$)/.test(name)),
      [],
    )
    const source = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    const beside = source.filter((name) => /\.(?!ts$|js$)\w+$/.test(name)).map((name) => `dist/${name}`)
    assert.deepEqual([...new Set(beside.map((name) => path.extname(name)))].toSorted(), [
      '.css',
      '.json',
      '.sql',
      '.txt',
    ])
    for (const name of beside) assert.ok(packed.files.includes(name), name)
  })

  test('svc serve loads nothing of svc dev, and answers none of its requests', async (t) => {
    const loaded = path.join(temporaryDirectory(t), 'loaded')
    const tap = `import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(loaded)}, url + '\\n'); return next(url, context) } })`
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tap)}` }
    const service = await startServiceProcess({ launcher, env, t })
    const modules = () => readFileSync(loaded, 'utf8').split('\n')
    // What the start leaves out is loaded a moment later.
    await eventually('the modules of the pages', () =>
      modules().some((url) => url.endsWith('/dist/web/logout/logout.js')),
    )
    await signedUp(service)
    const agent = createUserAgent(service)
    for (const path of createDevRoutes({} as never).map((route) => route.path.replace('{id}', '1'))) {
      const headers = { 'content-type': 'application/json' }
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        const { status } = await agent.send({ method, path, headers, body: '{"email":"ada@example.com"}' })
        assert.equal(status, 404, `${method} ${path}`)
      }
    }
    const OF_DEV = /\/dist\/(?:dev|cli)\/|\/node_modules\/(?:httpxy|smtp-server|postal-mime)\//
    assert.deepEqual(
      modules().filter((url) => OF_DEV.test(url)),
      [],
    )
    assert.ok(modules().some((url) => url.endsWith('/dist/service.js')))
  })

  test('svc dev runs below node_modules, with its pages and its files', async (t) => {
    const cwd = temporaryDirectory(t)
    const child = spawnSvc({ args: ['dev', '--json', '--port', '0'], cwd, env: { TMPDIR: cwd }, launcher })
    const [line]: string[] = await once(child.stdout, 'data')
    const { url } = JSON.parse(line?.split('\n')[0] ?? '') as { url: string }
    const agent = createUserAgent({ url })
    for (const path of ['/', '/auth/dev/mail', '/auth/dev/dev.css', '/auth/dev/dev.js', '/auth/login'])
      assert.equal((await agent.get(path)).status, 200, path)
    const ended = once(child, 'close')
    child.kill('SIGINT')
    assert.deepEqual([await ended, readdirSync(cwd)], [[0, null], []])
  })

  test('names the packages of the repository, and brings no Node', () => {
    const manifest = readManifest(path.join(packed.folder, 'node_modules/@svc/svc'))
    assert.deepEqual(manifest.dependencies, readManifest(ROOT).dependencies)
    assert.equal(manifest.optionalDependencies, undefined)
  })

  test('serves below node_modules: signup, login, logout, and the commands', async (t) => {
    const service = await startServiceProcess({ launcher, t })
    const { agent, person } = await signedUp(service)
    await assertSignedIn(agent)
    await logOut(agent)
    await logIn(agent, person)
    await assertSignedIn(agent)
    const listed = await runSvc({ args: ['users', 'list'], cwd: service.directory, env: service.env, launcher })
    assert.equal(listed.code, 0, listed.stderr)
    assert.ok(listed.stdout.includes(person.email))
    assert.equal(await service.stop(), 0)
    assert.doesNotMatch(service.logs(), /Warning/)
  })
})
