import type { Claims } from '../profile.ts'
import type { OAuth2Description } from './oauth2.ts'

interface DiscordUser {
  id?: unknown
  username?: unknown
  email?: unknown
  verified?: unknown
}

/** https://discord.com/developers/docs/topics/oauth2 */
export const describeDiscord = (issuer: string): OAuth2Description => ({
  authorizationEndpoint: `${issuer}/oauth2/authorize`,
  tokenEndpoint: `${issuer}/api/oauth2/token`,
  reauthenticateParams: { prompt: 'consent' },
  fetchClaims: async (callApi): Promise<Claims> => {
    const { id, username, email, verified } = ((await callApi(`${issuer}/api/users/@me`)) ?? {}) as DiscordUser
    return { sub: id, preferred_username: username, email, email_verified: verified }
  },
})
