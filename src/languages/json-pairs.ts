/** A member of a flat JSON object, and the line of the file on which it stands. */
interface Pair {
  key: string
  value: unknown
  line: number
}

interface Problem {
  line: number
  message: string
}

const MEMBER = /\s*("(?:[^"\\\p{Cc}]|\\.)*")\s*:\s*("(?:[^"\\\p{Cc}]|\\.)*"|[\w.+-]+|\{\s*\}|\[\s*\])\s*(,?)/uy

/**
 * Reads the members of a flat JSON object, each with its line, up to the first thing that is no member. `JSON.parse`
 * decides whether the whole is JSON, and keeps the last of two members of one name without a word.
 */
export const readPairs = (content: string): { pairs: Pair[]; problem: Problem | undefined } => {
  const text = content.replace(/^\uFEFF/, '')
  const pairs: Pair[] = []
  const start = /^\s*\{/.exec(text)
  if (!start)
    return { pairs, problem: { line: 1, message: 'this is no JSON object of texts, such as {"login.title": "…"}' } }
  MEMBER.lastIndex = start[0].length
  let at = start[0].length
  for (let found = MEMBER.exec(text); found; found = MEMBER.exec(text)) {
    const [whole, key = '""', value = 'null', comma] = found
    const line = lineAt(text, at + whole.length - whole.trimStart().length)
    const parsed = tryParse(value)
    if (!parsed) return { pairs, problem: { line, message: `the value of ${key} is no JSON` } }
    pairs.push({ key: JSON.parse(key) as string, value: parsed.value, line })
    at += whole.length
    if (!comma) break
  }
  if (/^\s*\}\s*$/.test(text.slice(at))) return { pairs, problem: undefined }
  const rest = text.slice(at)
  const line = lineAt(text, at + rest.length - rest.trimStart().length)
  const message = 'this is no member of a flat JSON object: "key": "text", with a comma between two'
  return { pairs, problem: { line, message } }
}

const tryParse = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length
