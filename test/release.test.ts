// Runs once.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { before, describe, type TestContext, test } from 'node:test'
import { temporaryDirectory } from './support/temporary-directory.ts'

const SCRIPT = path.join(import.meta.dirname, '../scripts/release.ts')

const CHANGELOG = `# Changelog

## [Unreleased]

### Added

- A thing ([docs](docs/thing.md)).

## [0.1.0] - 2026-01-02

- The first one.
`

const releasedChangelog = (day: string): string =>
  CHANGELOG.replace('[Unreleased]', `[Unreleased]\n\n## [0.2.0] - ${day}`)

/** No setting of the developer, such as a signature on each commit, takes part. */
const ENV = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
}

const json = (content: unknown): string => `${JSON.stringify(content, null, 2)}\n`

const gitIn =
  (cwd: string) =>
  (...args: string[]): string =>
    execFileSync('git', args, { cwd, env: ENV, encoding: 'utf8', stdio: 'pipe' }).trim()

const MODEL = temporaryDirectory()

const makeModel = (): void => {
  const git = gitIn(MODEL)
  const write = (name: string, content: unknown) => writeFileSync(path.join(MODEL, name), json(content))
  const lock = { name: 'svc', version: '0.1.0', packages: { '': { version: '0.1.0' }, sdk: { version: '0.1.0' } } }
  mkdirSync(path.join(MODEL, 'sdk'))
  write('sdk/package.json', { name: 'sdk', version: '0.1.0' })
  write('package.json', { name: 'svc', version: '0.1.0', dependencies: { pg: '0.1.0' } })
  write('package-lock.json', { ...lock, dependencies: { pg: { version: '0.1.0' } } })
  writeFileSync(path.join(MODEL, 'CHANGELOG.md'), CHANGELOG)
  git('init', '--quiet', '--template=', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '--message', 'Begin')
  git('tag', 'v0.1.0')
}

before(makeModel)

/** A repository at version 0.1.0, tagged. Another changelog is committed, too. */
const createRepository = (t: TestContext, { changelog = CHANGELOG } = {}) => {
  const cwd = temporaryDirectory(t)
  cpSync(MODEL, cwd, { recursive: true })
  const git = gitIn(cwd)
  const write = (name: string, text: string) => writeFileSync(path.join(cwd, name), text)
  const read = (name: string) => readFileSync(path.join(cwd, name), 'utf8')
  const release = (...args: string[]) =>
    spawnSync(process.execPath, [SCRIPT, ...args], { cwd, env: ENV, encoding: 'utf8' })
  if (changelog !== CHANGELOG) {
    write('CHANGELOG.md', changelog)
    git('commit', '--quiet', '--all', '--message', 'Change')
  }
  return { cwd, git, write, read, release }
}

/** Runs a release that must be refused, and returns what it says. The repository stays as it is. */
const refusal = ({ git, release }: ReturnType<typeof createRepository>, version: string): string => {
  const state = () => [git('status', '--porcelain=v2', '--branch'), git('for-each-ref'), git('diff', 'HEAD')]
  const before = state()
  const { status, stdout, stderr } = release(version)
  assert.equal(status, 1, stderr)
  assert.equal(stdout, '')
  assert.deepEqual(state(), before)
  return stderr
}

describe('npm run release', () => {
  test('writes version and changelog, commits, tags, and pushes nothing', (t) => {
    const { git, read, release } = createRepository(t)
    const remote = temporaryDirectory(t)
    git('init', '--quiet', '--template=', '--bare', remote)
    git('remote', 'add', 'origin', remote)
    const before = new Date().toISOString().slice(0, 10)
    const { status, stdout, stderr } = release('0.2.0')
    const after = new Date().toISOString().slice(0, 10)
    assert.equal(status, 0, stderr)
    assert.equal(read('package.json'), json({ name: 'svc', version: '0.2.0', dependencies: { pg: '0.1.0' } }))
    assert.equal(read('sdk/package.json'), json({ name: 'sdk', version: '0.2.0' }))
    const lock = JSON.parse(read('package-lock.json'))
    assert.deepEqual(
      [lock.version, lock.packages[''].version, lock.packages.sdk.version, lock.dependencies.pg.version],
      ['0.2.0', '0.2.0', '0.2.0', '0.1.0'],
    )
    assert.ok([before, after].map(releasedChangelog).includes(read('CHANGELOG.md')), read('CHANGELOG.md'))
    assert.equal(git('log', '--format=%s'), 'Release 0.2.0\nBegin')
    assert.equal(git('status', '--porcelain'), '')
    assert.equal(git('cat-file', '-t', 'v0.2.0'), 'tag')
    assert.equal(git('rev-parse', 'v0.2.0^{commit}'), git('rev-parse', 'HEAD'))
    assert.equal(git('ls-remote', 'origin'), '')
    const [, publish = ''] = /publish: +git (.+)/.exec(stdout) ?? []
    git(...publish.split(' '))
    assert.match(git('ls-remote', 'origin'), /refs\/heads\/main\n.*refs\/tags\/v0\.2\.0/)
  })

  test('releases the version in package.json, as long as it has not been released', (t) => {
    const repository = createRepository(t, { changelog: '# Changelog\n\n## [Unreleased]\n\n- All.\n' })
    repository.git('tag', '--delete', 'v0.1.0')
    assert.equal(repository.release('0.1.0').status, 0)
    assert.match(repository.read('CHANGELOG.md'), /^## \[Unreleased\]\n\n## \[0\.1\.0\] - [\d-]{10}\n\n- All\.$/m)
    assert.match(refusal(repository, '0.1.0'), /the tag v0\.1\.0 exists[^]*not greater than 0\.1\.0[^]*nothing under/)
  })

  test('refuses a working tree with changes, untracked files included', (t) => {
    const repository = createRepository(t)
    repository.write('note.txt', 'later')
    assert.equal(refusal(repository, '0.2.0'), 'No release: the working tree has changes that are not committed.\n')
  })

  test('refuses another branch, and a detached HEAD', (t) => {
    const repository = createRepository(t)
    repository.git('switch', '--quiet', '--create', 'topic')
    assert.equal(refusal(repository, '0.2.0'), 'No release: the branch is topic, and a release is made from main.\n')
    repository.git('switch', '--quiet', '--detach')
    assert.equal(refusal(repository, '0.2.0'), 'No release: the branch is none, and a release is made from main.\n')
  })

  test('refuses a tag that exists', (t) => {
    const repository = createRepository(t)
    repository.git('tag', 'v0.2.0')
    assert.match(refusal(repository, '0.2.0'), /^No release: the tag v0\.2\.0 exists\.$/m)
  })

  test('refuses a version that is not greater than the last one, by tag, changelog or package.json', (t) => {
    const repository = createRepository(t)
    repository.git('tag', 'v0.10.0')
    assert.equal(refusal(repository, '0.9.9'), 'No release: 0.9.9 is not greater than 0.10.0, the last release.\n')
    repository.git('tag', '--delete', 'v0.10.0')
    repository.write('CHANGELOG.md', CHANGELOG.replace('[0.1.0]', '[1.0.0]'))
    repository.git('commit', '--quiet', '--all', '--message', 'Change')
    assert.equal(refusal(repository, '0.2.0'), 'No release: 0.2.0 is not greater than 1.0.0, the last release.\n')
    repository.write('CHANGELOG.md', CHANGELOG)
    repository.write('package.json', json({ version: '0.3.0' }))
    repository.git('commit', '--quiet', '--all', '--message', 'Change')
    assert.equal(refusal(repository, '0.2.0'), 'No release: 0.2.0 is less than 0.3.0, the version in package.json.\n')
  })

  test('refuses when [Unreleased] contains only headings, or is missing', (t) => {
    for (const unreleased of ['## [Unreleased]\n\n### Added\n', '']) {
      const repository = createRepository(t, {
        changelog: `# Changelog\n\n${unreleased}\n## [0.1.0] - 2026-01-02\n\n- One.\n`,
      })
      assert.equal(refusal(repository, '0.2.0'), 'No release: CHANGELOG.md has nothing under [Unreleased].\n')
    }
  })

  test('leaves the files as they were when the commit fails', (t) => {
    const repository = createRepository(t)
    const { git, read, write } = repository
    mkdirSync(path.join(git('rev-parse', '--absolute-git-dir'), 'hooks'))
    write('.git/hooks/pre-commit', '#!/bin/sh\nexit 1\n')
    chmodSync(path.join(git('rev-parse', '--absolute-git-dir'), 'hooks/pre-commit'), 0o755)
    assert.match(refusal(repository, '0.2.0'), /^No release: git commit failed\.$/m)
    assert.equal(read('CHANGELOG.md'), CHANGELOG)
  })

  test('requires one version of three numbers', (t) => {
    const { release } = createRepository(t)
    for (const args of [[], ['v0.2.0'], ['0.2.0-rc.1'], ['0.2.0', '0.3.0']]) {
      const { status, stderr } = release(...args)
      assert.equal(status, 2, args.join(' '))
      assert.match(stderr, /^Usage: npm run release -- VERSION/)
    }
  })
})

describe('the notes of a release', () => {
  const NOTES = path.join(import.meta.dirname, '../scripts/release-notes.ts')

  const notesIn = (cwd: string, argument: string) =>
    spawnSync(process.execPath, [NOTES, argument], { cwd, encoding: 'utf8' })

  test('are the section of the version that the tag and the packages name', (t) => {
    const { cwd, release } = createRepository(t)
    assert.equal(release('0.2.0').status, 0)
    assert.equal(notesIn(cwd, 'v0.2.0').stdout, '### Added\n\n- A thing ([docs](docs/thing.md)).\n')
    assert.match(
      notesIn(cwd, 'v0.1.0').stderr,
      /^No release: the tag is v0\.1\.0, and package\.json has the version 0\.2\.0\.$/m,
    )
  })

  test('are refused where the changelog has no section', (t) => {
    const { cwd, write } = createRepository(t)
    write('CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n')
    assert.equal(notesIn(cwd, 'v0.1.0').status, 1)
    assert.equal(notesIn(cwd, '--dry-run').stderr, 'No release: CHANGELOG.md has no section for it.\n')
  })

  test('are what is unreleased in a dry run', (t) => {
    const { cwd } = createRepository(t)
    assert.equal(notesIn(cwd, '--dry-run').stdout, '### Added\n\n- A thing ([docs](docs/thing.md)).\n')
  })
})
