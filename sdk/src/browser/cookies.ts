/** Throws on a server, where there is no page whose cookies could say anything. */
export const requirePage = (): void => {
  if (typeof document !== 'undefined') return
  throw new TypeError(
    '@svc/sdk/browser is for scripts in pages. On a server, @svc/sdk/server reads the user of a request.',
  )
}

// The cookies that svc leaves readable (CONTRACT.md 5.1), by either of their names: the service has one setting for all
// of its cookies (SVC_COOKIE_PREFIX), and no other host can set those with the prefix.
const readCookie = (name: string): string | undefined => {
  const pairs = document.cookie.split('; ')
  for (const full of [`__Host-${name}`, name]) {
    const pair = pairs.find((text) => text.startsWith(`${full}=`))
    if (pair !== undefined) return pair.slice(full.length + 1)
  }
  return undefined
}

/** Whether the browser has a session. */
export const isSignedIn = (): boolean => Boolean(readCookie('svc_session'))

/** Whether the access token is good for a while yet. */
export const isFresh = (): boolean => Boolean(readCookie('svc_fresh'))

export const csrfToken = (): string => readCookie('svc_csrf') ?? ''

/** What changes with every login and logout, and with no renewal: empty while nobody is signed in. */
export const sessionMark = (): string => (isSignedIn() ? `session ${csrfToken()}` : '')
