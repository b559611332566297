interface JsonShape {
  /** This counts how many objects and arrays stand in one another. */
  depth: number
  /** This is the name of a member that its object has more than once: each parser takes another one of them. */
  repeated: string | undefined
}

/** Looks at text that is JSON already, so that every string in it has an end, and a name before each colon. */
export const inspectJson = (text: string): JsonShape => {
  const shape: JsonShape = { depth: 0, repeated: undefined }
  /** These are the names so far of each object that is open; an array has none. */
  const open: (Set<string> | undefined)[] = []
  let string = { start: 0, end: 0 }
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]
    if (character === '"') {
      string = { start: index, end: endOfString(text, index) }
      index = string.end
    } else if (character === '{' || character === '[') {
      open.push(undefined)
      shape.depth = Math.max(shape.depth, open.length)
    } else if (character === '}' || character === ']') open.pop()
    else if (character === ':') {
      const name = nameOf(text.slice(string.start, string.end + 1))
      const members = (open[open.length - 1] ??= new Set())
      if (members.has(name)) shape.repeated ??= name
      members.add(name)
    }
  }
  return shape
}

/** Finds the closing quote. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

/** A backslash before the quote may be escaped itself. */
const isEscaped = (text: string, quote: number): boolean => {
  let first = quote
  while (text[first - 1] === '\\') first -= 1
  return (quote - first) % 2 === 1
}

/** One name may be written in several ways. */
const nameOf = (string: string): string =>
  string.includes('\\') ? (JSON.parse(string) as string) : string.slice(1, -1)
