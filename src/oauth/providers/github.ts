import { signInProblem } from '../errors.ts'
import type { Claims } from './profile.ts'
import type { CallApi, OAuth2Description } from './oauth2.ts'

interface GithubUser {
  id?: unknown
  login?: unknown
  name?: unknown
}

interface GithubEmail {
  email?: unknown
  primary?: unknown
  verified?: unknown
}

/** Describes GitHub, or a GitHub Enterprise Server, whose API is below its own address. */
export const describeGithub = (issuer: string): OAuth2Description => {
  const api = issuer === 'https://github.com' ? 'https://api.github.com' : `${issuer}/api/v3`
  return {
    authorizationEndpoint: `${issuer}/login/oauth/authorize`,
    tokenEndpoint: `${issuer}/login/oauth/access_token`,
    reauthenticateParams: { prompt: 'select_account' },
    fetchClaims: (callApi) => fetchClaims(callApi, api),
  }
}

const fetchClaims = async (callApi: CallApi, api: string): Promise<Claims> => {
  const [user, emails] = await Promise.all([callApi(`${api}/user`), callApi(`${api}/user/emails?per_page=100`)])
  const { id, login, name } = (user ?? {}) as GithubUser
  if (!Number.isSafeInteger(id)) throw signInProblem('unverifiable', new Error('the user has no numeric id'))
  // The profile shows any address that the user wants to show, verified or not.
  const primary = Array.isArray(emails) ? (emails as GithubEmail[]).find((it) => it?.primary === true) : undefined
  const { email, verified: email_verified } = primary ?? {}
  return { sub: String(id), preferred_username: login, name, email, email_verified }
}
