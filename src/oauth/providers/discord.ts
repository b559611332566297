import type { Claims } from '../profile.ts'
import type { PlainOAuth } from './oauth2.ts'

interface DiscordUser {
  id?: unknown
  username?: unknown
  email?: unknown
  verified?: unknown
}

/** https://discord.com/developers/docs/topics/oauth2 */
export const describeDiscord = (issuer: string): PlainOAuth => ({
  authorizationEndpoint: `${issuer}/oauth2/authorize`,
  tokenEndpoint: `${issuer}/api/oauth2/token`,
  anew: { prompt: 'consent' },
  identify: async (ask): Promise<Claims> => {
    const { id, username, email, verified } = ((await ask(`${issuer}/api/users/@me`)) ?? {}) as DiscordUser
    return { sub: id, preferred_username: username, email, email_verified: verified }
  },
})
