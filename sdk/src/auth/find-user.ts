import type { RequestSource } from '../request/source.ts'
import { svcCookiesOf } from '../request/svc-cookies.ts'
import { readRetryAfter, SvcUnavailableError } from '../svc-unavailable-error.ts'
import { toUser, type User } from '../user.ts'
import { noStore } from './no-store.ts'
import type { AuthSettings } from './settings.ts'

const USER_PATH = '/auth/api/v1/user'

const ask = async (
  url: string,
  { timeoutMs }: AuthSettings,
  cookie: string,
): Promise<{ status: number; text: string; headers: Headers }> => {
  try {
    const response = await fetch(url + USER_PATH, {
      headers: { cookie, accept: 'application/json' },
      // The cookies of the user go to svc and to nobody else.
      redirect: 'manual',
      ...noStore(),
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { status: response.status, text: await response.text(), headers: response.headers }
  } catch (cause) {
    throw new SvcUnavailableError(`svc at ${url} cannot be asked who the user is`, { cause })
  }
}

const parseUser = (text: string, headers: Headers, url: string): User => {
  try {
    const user = toUser(JSON.parse(text), headers)
    if (user) return user
  } catch {
    // The error below says it.
  }
  throw new SvcUnavailableError(`${url}${USER_PATH} answers something other than a user: is this the address of svc?`)
}

/** The user of a request, or null when nobody is signed in. Throws `SvcUnavailableError` when svc cannot say. */
export const findUser = async (settings: AuthSettings, source: RequestSource): Promise<User | null> => {
  const cookie = svcCookiesOf(source)
  if (cookie === '') return null
  const url = settings.requireUrl()
  const { status, text, headers } = await ask(url, settings, cookie)
  if (status === 200) return parseUser(text, headers, url)
  if (status === 401) return null
  throw new SvcUnavailableError(`svc at ${url} answered ${status} when it was asked who the user is`, {
    retryAfter: readRetryAfter(headers.get('retry-after')),
  })
}
