import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

const ROOT = path.join(import.meta.dirname, '../..')

/** A code block of a document. */
export type Snippet = {
  document: string
  language: string
  /** The file that it is a part of: the text behind the language. */
  file: string | undefined
  code: string
  firstLine: string
}

/** The code blocks of a document, in order. */
export const snippetsOf = (document: string): Snippet[] =>
  [...readFileSync(path.join(ROOT, document), 'utf8').matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms)].map(
    ([, language = '', file, code = '']) => ({ document, language, file, code, firstLine: code.split('\n')[0] ?? '' }),
  )

/** The code blocks of all documents for users. */
export const allSnippets = (): Snippet[] =>
  globSync(['README.md', 'docs/*.md', 'sdk/README.md', 'sdk/docs/*.md', 'deploy/**/README.md'], { cwd: ROOT })
    .toSorted()
    .flatMap(snippetsOf)

/** The code block of a document that begins with a line. */
export const requireSnippet = (document: string, beginning: string): string => {
  const [snippet, ...more] = snippetsOf(document).filter(({ code }) => code.startsWith(beginning))
  if (snippet === undefined || more.length > 0)
    throw new Error(`${document} has not one block that begins: ${beginning}`)
  return snippet.code
}
