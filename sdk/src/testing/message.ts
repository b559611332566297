/** A message that svc has sent. */
export interface Message {
  from: string
  /** The addresses of the envelope. */
  to: string[]
  subject: string
  text: string
  html: string
  /** Every http and https address in the text, in order. */
  links: string[]
  /** The link that the user is meant to open: the first with a token. */
  link: string | undefined
  /** The code that the user is meant to type. */
  code: string | undefined
}

interface Part {
  headers: Map<string, string>
  body: string
}

/** A message or a part of one: header fields, an empty line, the body. Bytes are characters here (latin1). */
const readPart = (source: string): Part => {
  const end = source.indexOf('\r\n\r\n')
  const head = end === -1 ? source : source.slice(0, end)
  // A field goes on in the next line when that begins with a space (RFC 5322 section 2.2.3).
  const fields = head.replaceAll(/\r\n(?=[ \t])/g, '').split('\r\n')
  const headers = new Map(
    fields.map((field): [string, string] => {
      const colon = field.indexOf(':')
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
    }),
  )
  return { headers, body: end === -1 ? '' : source.slice(end + 4) }
}

const fromQuotedPrintable = (text: string): Buffer => {
  const bytes = text
    .replaceAll(/=[ \t]*\r\n/g, '')
    .replaceAll(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1')
}

const decodeBody = ({ headers, body }: Part): string => {
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase()
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return (encoding === 'quoted-printable' ? fromQuotedPrintable(body) : Buffer.from(body, 'latin1')).toString()
}

/** A header with its encoded words decoded (RFC 2047). */
const decodeHeader = (text: string): string =>
  text
    .replaceAll(/(\?=)\s+(?==\?)/g, '$1')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, form: string, word: string) =>
      form.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString()
        : fromQuotedPrintable(word.replaceAll('_', ' ')).toString(),
    )

const partsOf = (source: string): Part[] => {
  const part = readPart(source)
  const type = part.headers.get('content-type') ?? 'text/plain'
  const [, boundary] = /^multipart\/.*?boundary="?([^";]+)/i.exec(type) ?? []
  if (boundary === undefined) return [part]
  return `\r\n${part.body}`
    .split(`\r\n--${boundary}`)
    .slice(1, -1)
    .flatMap((inner) => partsOf(inner.slice(2)))
}

/** Reads a message as it was sent. */
export const readMessage = (source: string, to: string[]): Message => {
  const { headers } = readPart(source)
  const bodyOf = (type: string): string => {
    const part = partsOf(source).find((one) => one.headers.get('content-type')?.toLowerCase().startsWith(type))
    return part ? decodeBody(part).replaceAll('\r\n', '\n') : ''
  }
  const text = bodyOf('text/plain')
  const links = text.match(/https?:\/\/[^\s<>]+/g) ?? []
  return {
    from: decodeHeader(headers.get('from') ?? ''),
    to,
    subject: decodeHeader(headers.get('subject') ?? ''),
    text,
    html: bodyOf('text/html'),
    links,
    link: links.find((url) => url.includes('?token=')),
    code: /^\d{8}$/m.exec(text)?.[0],
  }
}
