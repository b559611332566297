/** A source has these pieces: the markup of its templates of HTML, and all other text in quotes. */
interface Pieces {
  /** A value in a template is the character `VALUE`. */
  markup: string[]
  /** What stands before a text on its line, or on the line above, tells what it is for. */
  texts: { text: string; before: string }[]
}

export const VALUE = '\uFFFC'

const COMMENT = /\/\/.*|\/\*[^]*?\*\//y
const QUOTED = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y
/** A slash begins a regular expression after these. */
const REGEX = /(?<=[(,=:[!&|?{};>]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y

const matchAt = (pattern: RegExp, source: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

/** Takes a source of TypeScript apart. Templates inside the values of templates are pieces of their own. */
export const piecesOf = (source: string): Pieces => {
  const pieces: Pieces = { markup: [], texts: [] }
  let at = 0

  const beforeOf = (start: number): string => source.slice(0, start).split('\n').slice(-2).join('\n')

  const template = (): void => {
    const start = at
    const isMarkup = /\bhtml$/.test(source.slice(0, start))
    let text = ''
    at += 1
    while (at < source.length && source[at] !== '`') {
      if (source.startsWith('${', at)) {
        at += 2
        code('}')
        text += VALUE
      } else {
        text += source[at]
        at += source[at] === '\\' ? 2 : 1
      }
    }
    at += 1
    if (isMarkup) pieces.markup.push(text)
    else pieces.texts.push({ text, before: beforeOf(start) })
  }

  /** Reads to the end of the source, or over the brace that ends a value. */
  const code = (end?: string): void => {
    let depth = 0
    while (at < source.length) {
      const quoted = matchAt(QUOTED, source, at)
      const skipped = quoted ?? matchAt(COMMENT, source, at) ?? matchAt(REGEX, source, at)
      if (quoted !== undefined) pieces.texts.push({ text: quoted.slice(1, -1), before: beforeOf(at) })
      if (skipped !== undefined) at += skipped.length
      else if (source[at] === '`') template()
      else {
        const character = source[at]
        at += 1
        if (character === end && depth === 0) return
        if (character === '{') depth += 1
        if (character === '}') depth -= 1
      }
    }
  }

  code()
  return pieces
}
