export interface StreamEvent {
  name: string
  /** Empty where there is an id alone. */
  data: string
  id: string | undefined
}

/** In characters. A page of a thousand entries with two hundred ids each is half as long. */
const LONGEST_ANSWER = 2 ** 24

/** Yields each line without its end. A long one is joined once, however small the chunks are. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let begun: string[] = []
  let length = 0
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true })
    begun.push(text)
    length += text.length
    if (/[\r\n]/.test(text)) {
      // The other half of its end may follow a `\r`.
      const lines = begun.join('').split(/\r\n|\n|\r(?!$)/)
      const rest = lines.pop() ?? ''
      begun = [rest]
      length = rest.length
      yield* lines
    }
    if (length > LONGEST_ANSWER) throw new TypeError('a line does not end')
  }
}

const fieldOf = (line: string): [name: string, value: string] => {
  const at = line.indexOf(':')
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')]
}

/** Reads a stream of server-sent events; yields undefined for a comment. */
export async function* readEventStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent | undefined> {
  let event: StreamEvent = { name: '', data: '', id: undefined }
  for await (const line of linesOf(chunks)) {
    const [field, value] = fieldOf(line)
    if (line === '') {
      if (event.data !== '' || event.id !== undefined) yield event
      event = { name: '', data: '', id: undefined }
    } else if (field === '') yield undefined
    else if (field === 'event') event.name = value
    else if (field === 'id') event.id = value
    else if (field === 'data') event.data += event.data === '' ? value : `\n${value}`
    if (event.data.length > LONGEST_ANSWER) throw new TypeError('an event does not end')
  }
}

/** Reads a whole body. Throws a `TypeError` for one that is too long. */
export const readText = async (chunks: AsyncIterable<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  const pieces: string[] = []
  let length = 0
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true })
    pieces.push(text)
    length += text.length
    if (length > LONGEST_ANSWER) throw new TypeError('an answer does not end')
  }
  return pieces.join('')
}
