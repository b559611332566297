// `node scripts/release-notes.ts v0.2.0` prints the changelog's section of the version that a tag names, for the release
// workflow. `--dry-run` in place of the tag takes what is unreleased. It fails where the tag and the packages have
// different versions, or where there is no section.
import { readFileSync } from 'node:fs'

const PACKAGES = ['package.json', 'sdk/package.json']

const versionOf = (file: string): string => (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version

/** The text below the section's heading, up to the next version; undefined without one. */
const sectionOf = (changelog: string, name: string): string | undefined =>
  changelog
    .split(/^(?=## )/m)
    .find((section) => section.startsWith(`## [${name}]`))
    ?.replace(/^.*\n/, '')
    .trim()

const findProblems = (tag: string): string[] =>
  PACKAGES.filter((file) => `v${versionOf(file)}` !== tag).map(
    (file) => `the tag is ${tag}, and ${file} has the version ${versionOf(file)}`,
  )

const main = ([tag = '']: string[]): number => {
  const isDryRun = tag === '--dry-run'
  const problems = isDryRun ? [] : findProblems(tag)
  const section = sectionOf(readFileSync('CHANGELOG.md', 'utf8'), isDryRun ? 'Unreleased' : tag.replace(/^v/, ''))
  if (!section) problems.push('CHANGELOG.md has no section for it')
  for (const problem of problems) process.stderr.write(`No release: ${problem}.\n`)
  if (problems.length > 0) return 1
  process.stdout.write(`${section}\n`)
  return 0
}

process.exitCode = main(process.argv.slice(2))
