import { type CookieRole, type CookieTable, isToken, readableCookies } from './cookies.ts'

/**
 * This holds the cookies of a request. If a name came twice, either cookie may be an attacker's: the request counts as
 * signed out.
 */
export interface RequestCookies {
  access: string | undefined
  refresh: string | undefined
  /**
   * This tells whether one refresh token came, even if another cookie came twice, or the CSRF cookie does not confirm
   * it.
   */
  bringsRefresh: boolean
  csrf: string | undefined
  oauth: string | undefined
  device: string | undefined
  link: string | undefined
  pending: string | undefined
  /** This holds every cookie that came once, even if another one came twice. */
  single: Readonly<Partial<Record<CookieRole, string>>>
  repeated: CookieRole[]
}

interface CookieReaderDeps {
  cookieTable: CookieTable
  /** Tells whether the other cookies confirm the refresh token. If it is undefined, the token needs no confirmation. */
  isConfirmed?: ((single: RequestCookies['single']) => boolean) | undefined
}

/**
 * Reads the cookies of the table from a `Cookie` header (RFC 6265bis section 5.8.3). An empty cookie counts as absent,
 * and so does a refresh token that `isConfirmed` refuses.
 */
export const createCookieReader = ({ cookieTable, isConfirmed }: CookieReaderDeps) => {
  const names = readableCookies(cookieTable).map(([role, { name }]) => ({ role, name }))

  /** Finds the role of the cookie whose name is from `start` to `end`. */
  const roleAt = (header: string, start: number, end: number): CookieRole | undefined => {
    for (const { role, name } of names) {
      if (name.length === end - start && header.startsWith(name, start)) return role
    }
    return undefined
  }

  return (header: string | undefined): RequestCookies => {
    if (header === undefined) return NO_COOKIES
    const found: Found = {}
    let repeated = NONE
    let equals = -1
    // This runs for every request, so it copies no text except the values of our cookies.
    for (let start = 0, end = 0; start < header.length; start = end + 1) {
      end = endOfPair(header, start)
      if (equals < start) equals = header.indexOf('=', start)
      if (equals < 0) break
      if (equals > end) continue
      const role = roleAt(header, skipSpaces(header, start), dropSpaces(header, equals))
      if (role === undefined) continue
      if (found[role] !== undefined) repeated = [...new Set([...repeated, role])]
      found[role] = header.slice(skipSpaces(header, equals + 1), dropSpaces(header, end))
    }
    for (const role of repeated) delete found[role]
    return toRequestCookies(found, repeated)
  }

  function toRequestCookies(found: Found, repeated: CookieRole[]): RequestCookies {
    const bringsRefresh = Boolean(found.refresh)
    if (bringsRefresh && isConfirmed?.(found) === false) delete found.refresh
    const csrf = found.csrf || undefined
    const { access, refresh, oauth, device, link, pending } = repeated.length > 0 ? {} : found
    return {
      access: access || undefined,
      refresh: refresh || undefined,
      bringsRefresh,
      csrf,
      oauth: oauth || undefined,
      device: isToken(device) ? device : undefined,
      link: isToken(link) ? link : undefined,
      pending: pending || undefined,
      single: found,
      repeated,
    }
  }
}

type Found = Partial<Record<CookieRole, string>>

const NONE: CookieRole[] = []

const NO_COOKIES: RequestCookies = {
  access: undefined,
  refresh: undefined,
  bringsRefresh: false,
  csrf: undefined,
  oauth: undefined,
  device: undefined,
  link: undefined,
  pending: undefined,
  single: {},
  repeated: NONE,
}

const endOfPair = (header: string, start: number): number => {
  const end = header.indexOf(';', start)
  return end < 0 ? header.length : end
}

/*
 * Spaces and tabs do not belong to a name or a value. `trim` removes more, such as a no-break space. For the browser, a
 * cookie with a no-break space in front of its name is another cookie, which any host of the domain may set; here it
 * would pass for ours.
 */

const skipSpaces = (header: string, start: number): number => {
  let at = start
  while (isSpace(header.charCodeAt(at))) at += 1
  return at
}

const dropSpaces = (header: string, end: number): number => {
  let at = end
  while (isSpace(header.charCodeAt(at - 1))) at -= 1
  return at
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09
