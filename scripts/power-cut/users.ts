// Users of the service whose power is cut: what they do until then, and what they find afterwards.
import { randomInt } from 'node:crypto'

const PASSWORD = 'a long enough phrase'

/** An account that was acknowledged, and its newest tokens. An empty refresh token is not known to be valid. */
export interface AcknowledgedUser {
  email: string
  refresh: string
  csrf: string
}

const cookie = (response: Response, name: string): string =>
  response.headers
    .getSetCookie()
    .find((line) => line.startsWith(`${name}=`))
    ?.split(/[=;]/, 2)[1] ?? ''

const post = (url: string, path: string, cookies: string, form: Record<string, string>) =>
  fetch(url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: cookies, 'x-csrf-token': /svc_csrf=([^;]+)/.exec(cookies)?.[1] ?? '' },
    body: new URLSearchParams(form),
  })

const fetchCsrfCookie = async (url: string) => `svc_csrf=${cookie(await fetch(`${url}/auth/login`), 'svc_csrf')}`

const signUp = async (url: string, email: string): Promise<AcknowledgedUser | undefined> => {
  const response = await post(url, '/auth/signup', await fetchCsrfCookie(url), { email, password: PASSWORD })
  if (response.status !== 303) throw new Error(`signup was answered ${response.status}`)
  return { email, refresh: cookie(response, 'svc_refresh'), csrf: cookie(response, 'svc_csrf') }
}

const refresh = (url: string, user: AcknowledgedUser) =>
  post(url, '/auth/api/v1/sessions/refresh?audience=app', `svc_refresh=${user.refresh}; svc_csrf=${user.csrf}`, {})

/** Signs up and refreshes until the power is cut; records only acknowledged users and tokens. */
export const signUpAndRefresh = async (
  url: string,
  name: string,
  acknowledged: AcknowledgedUser[],
): Promise<number> => {
  let refreshes = 0
  try {
    for (let count = 0; ; count += 1) {
      const user = await signUp(url, `${name}-${count}@example.com`)
      if (!user) continue
      acknowledged.push(user)
      for (let more = randomInt(200); more > 0; more -= 1) {
        const before = user.refresh
        // If the power is cut during the refresh, either token may be valid, so neither is checked.
        user.refresh = ''
        const response = await refresh(url, { ...user, refresh: before })
        if (response.status !== 200) throw new Error(`refresh was answered ${response.status}`)
        user.refresh = cookie(response, 'svc_refresh')
        refreshes += 1
      }
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return refreshes
  }
}

/** What acknowledged users and tokens can no longer do. */
export const findLosses = async (url: string, acknowledged: AcknowledgedUser[]): Promise<string[]> => {
  const losses: string[] = []
  for (const user of acknowledged) {
    const login = await post(url, '/auth/login', await fetchCsrfCookie(url), { email: user.email, password: PASSWORD })
    if (login.status !== 303) losses.push(`${user.email} cannot log in: ${login.status}`)
    if (user.refresh === '') continue
    const renewed = await refresh(url, user)
    if (renewed.status !== 200) losses.push(`${user.email} was logged out: ${renewed.status}`)
  }
  return losses
}
