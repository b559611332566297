import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { findClosest } from '../lib/closest-match.ts'
import { canonicalTag } from '../lib/language-tag.ts'
import { readPairs } from './json-pairs.ts'
import type { OwnTexts } from './languages.ts'
import { findTextProblems, textKeysOf } from './text-rules.ts'

/** These are the texts of an operator, with everything that is wrong with their files, one line each. */
export interface ReadTexts {
  texts: OwnTexts
  errors: string[]
  /** Keys that have other names by now are taken for a version. */
  warnings: string[]
}

interface Rules {
  /** Texts of these scopes of the application have the keys `scope.NAME`. */
  scopes?: readonly string[] | undefined
  /** These keys have other names by now. */
  renamed?: Readonly<Record<string, string>> | undefined
}

/** Keys of earlier versions, with their names of now. They are promised: an entry stays for a minor version. */
const RENAMED: Readonly<Record<string, string>> = {}

const EXTENSION = '.json'

/** Reads the files of a folder, each named for the tag of a language. */
export const readOwnTexts = (folder: string, { scopes = [], renamed = RENAMED }: Rules = {}): ReadTexts => {
  const found: ReadTexts & { texts: Map<string, Readonly<Record<string, string>>> } = {
    texts: new Map(),
    errors: [],
    warnings: [],
  }
  const names = listFiles(folder, found.errors)
  for (const name of names) {
    const file = path.join(folder, name)
    const tag = tagOf(name)
    if (tag === undefined) found.errors.push(`${file}: ${misnamed(name)}`)
    else readFile({ file, tag, scopes, renamed }, found)
  }
  return found
}

/** Hidden files are those of a mounted volume, or of a system that shows folders to people. */
const listFiles = (folder: string, errors: string[]): string[] => {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .toSorted()
  } catch (error) {
    errors.push(`the folder ${folder} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return []
  }
}

const tagOf = (name: string): string | undefined => {
  const tag = name.endsWith(EXTENSION) ? name.slice(0, -EXTENSION.length) : ''
  return canonicalTag(tag) === tag ? tag : undefined
}

const misnamed = (name: string): string => {
  const meant = canonicalTag(name.replace(/\.[^.]*$/, '').replaceAll('_', '-'))
  const hint = meant === undefined ? '' : `; did you mean ${meant}${EXTENSION}?`
  return `a file is named for the tag of a language (BCP 47), such as de.json or pt-BR.json${hint}`
}

interface OneFile extends Required<Rules> {
  file: string
  tag: string
  scopes: readonly string[]
  renamed: Readonly<Record<string, string>>
}

const readFile = (
  { file, tag, scopes, renamed }: OneFile,
  { texts, errors, warnings }: ReadTexts & { texts: Map<string, Readonly<Record<string, string>>> },
): void => {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch (error) {
    errors.push(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return
  }
  const { pairs, problem } = readPairs(content)
  if (problem) errors.push(`${file}:${problem.line}: ${problem.message}`)
  const known = textKeysOf(tag, scopes)
  const own: Record<string, string> = {}
  for (const { key: written, value, line } of pairs) {
    const at = `${file}:${line}: ${written}`
    const key = renamed[written] ?? written
    if (key !== written) warnings.push(`${at} is named ${key} now: rename it`)
    const rule = known.get(key)
    if (key === 'reviewed') continue
    if (!rule) errors.push(`${at} is no key${didYouMean(key, [...known.keys()])}`)
    else if (Object.hasOwn(own, key)) errors.push(`${at} is there twice`)
    else if (typeof value !== 'string') errors.push(`${at} must be a text in quotation marks`)
    else errors.push(...findTextProblems(value, rule).map((each) => `${at} ${each}`))
    if (typeof value === 'string') own[key] = value
  }
  texts.set(tag, own)
}

const didYouMean = (key: string, known: readonly string[]): string => {
  const meant = findClosest(key, known)
  return meant === undefined ? ': svc texts list shows all of them' : `; did you mean ${meant}?`
}
