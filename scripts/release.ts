// `npm run release -- 0.2.0` prepares a release of what `main` holds: it writes the version and the changelog, commits,
// and tags. It pushes nothing.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const BRANCH = 'main'
/** The SDK is released together with the service that it talks to. */
const PACKAGES = ['package.json', 'sdk/package.json']
const FILES = [...PACKAGES, 'package-lock.json', 'CHANGELOG.md']
const UNRELEASED = '## [Unreleased]'

type Version = [major: number, minor: number, patch: number]

interface Lock {
  version: string
  packages: { '': { version: string }; sdk: { version: string } }
}

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()

const parseVersion = (text: string): Version | undefined => {
  const [, major, minor, patch] = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.exec(text) ?? []
  return patch === undefined ? undefined : [Number(major), Number(minor), Number(patch)]
}

const compare = (a: Version, b: Version): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]

/** Versions that have a tag or a section in the changelog. */
const releasedVersions = (changelog: string): Version[] => {
  const tags = git('tag', '--list', 'v*').split('\n')
  const sections = [...changelog.matchAll(/^## \[([\d.]+)\]/gm)].map(([, version = '']) => version)
  return [...tags.map((tag) => tag.slice(1)), ...sections].map(parseVersion).filter((version) => version !== undefined)
}

/** The lines below the heading `[Unreleased]`, up to the next version; undefined without that heading. */
const unreleasedLines = (changelog: string): string[] | undefined => {
  const lines = changelog.split('\n')
  const start = lines.indexOf(UNRELEASED)
  if (start === -1) return undefined
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '))
  return lines.slice(start + 1, length === -1 ? undefined : start + 1 + length)
}

const hasEntries = (lines: string[]): boolean => lines.some((line) => line.trim() !== '' && !line.startsWith('#'))

const findVersionProblems = (version: Version, changelog: string): string[] => {
  const latest = releasedVersions(changelog).sort(compare).at(-1)
  const { version: current }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'))
  const [name, ofPackage] = [version.join('.'), parseVersion(current)]
  return [
    ...(git('tag', '--list', `v${name}`) === '' ? [] : [`the tag v${name} exists`]),
    ...(latest && compare(version, latest) <= 0
      ? [`${name} is not greater than ${latest.join('.')}, the last release`]
      : []),
    ...(ofPackage && compare(version, ofPackage) < 0
      ? [`${name} is less than ${current}, the version in package.json`]
      : []),
  ]
}

const findProblems = (version: Version, changelog: string): string[] => {
  const branch = git('branch', '--show-current')
  return [
    ...(branch === BRANCH ? [] : [`the branch is ${branch || 'none'}, and a release is made from ${BRANCH}`]),
    ...(git('status', '--porcelain') === '' ? [] : ['the working tree has changes that are not committed']),
    ...findVersionProblems(version, changelog),
    ...(hasEntries(unreleasedLines(changelog) ?? []) ? [] : ['CHANGELOG.md has nothing under [Unreleased]']),
  ]
}

const changeJson = <T>(name: string, change: (content: T) => void): void => {
  const content: T = JSON.parse(readFileSync(name, 'utf8'))
  change(content)
  writeFileSync(name, `${JSON.stringify(content, null, 2)}\n`)
}

const writeVersion = (version: string): void => {
  for (const name of PACKAGES) {
    changeJson<{ version: string }>(name, (content) => {
      content.version = version
    })
  }
  changeJson<Lock>('package-lock.json', (lock) => {
    lock.version = version
    for (const own of [lock.packages[''], lock.packages.sdk]) own.version = version
  })
}

/** Returns whether git took the commit. If it did not, the files are as they were. */
const commit = (version: string): boolean => {
  try {
    git('commit', '--quiet', '--message', `Release ${version}`, '--', ...FILES)
    return true
  } catch {
    git('restore', '--staged', '--worktree', '--', ...FILES)
    return false
  }
}

const release = (version: string, changelog: string): boolean => {
  const day = new Date().toISOString().slice(0, 10)
  writeVersion(version)
  writeFileSync('CHANGELOG.md', changelog.replace(UNRELEASED, `${UNRELEASED}\n\n## [${version}] - ${day}`))
  if (!commit(version)) return false
  git('tag', '--annotate', `v${version}`, '--message', `svc ${version}`)
  return true
}

const nextSteps = (version: string): string => `Committed and tagged v${version}. Nothing is pushed.

  look:       git show v${version}
  publish:    git push --atomic origin ${BRANCH} v${version}
  take back:  git tag --delete v${version} && git reset --hard HEAD~1
`

const main = (args: string[]): number => {
  const version = args.length === 1 ? parseVersion(args[0] ?? '') : undefined
  if (version === undefined) {
    process.stderr.write('Usage: npm run release -- VERSION, where VERSION is three numbers, such as 0.2.0\n')
    return 2
  }
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  const problems = findProblems(version, changelog)
  if (problems.length === 0 && !release(version.join('.'), changelog)) problems.push('git commit failed')
  for (const problem of problems) process.stderr.write(`No release: ${problem}.\n`)
  if (problems.length > 0) return 1
  process.stdout.write(nextSteps(version.join('.')))
  return 0
}

process.exitCode = main(process.argv.slice(2))
