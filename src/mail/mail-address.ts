/** Whom a message is from. */
export interface MailAddress {
  /** Empty: the address alone. */
  name: string
  address: string
}

const MAX_NAME_LENGTH = 100
/** RFC 5321 dot-atom and a host, which need not have a dot: mail may be tried as `svc@localhost`. */
const ADDRESS =
  /^(?=.{3,254}$)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/

export const MAIL_ADDRESSES = `an address such as svc@example.com, or NAME <svc@example.com> with a name of at most ${MAX_NAME_LENGTH} characters`

/** Reads `Name <address>`, `"Name" <address>` or an address; undefined if it is none of them. */
export const readMailAddress = (text: string): MailAddress | undefined => {
  // Control characters and their like could begin a header of their own.
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text)) return undefined
  const [, nameText = '', bracketed] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? []
  const address = bracketed ?? text.trim()
  const name = unquote(nameText.trim())
  return name !== undefined && name.length <= MAX_NAME_LENGTH && ADDRESS.test(address) ? { name, address } : undefined
}

/** RFC 5322 quoted-string. A quotation mark without its partner is an error. */
const unquote = (text: string): string | undefined => {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"$/.exec(text) ?? []
  if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1')
  return text.includes('"') ? undefined : text
}
