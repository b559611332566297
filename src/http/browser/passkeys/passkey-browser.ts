import { newToken } from '../../cookies.ts'
import type { RouteDeps } from '../../deps.ts'
import type { RequestContext } from '../../request-context.ts'

/**
 * The secret that binds a challenge to this browser; sets its cookie where there is none. No script reads that cookie,
 * with https no other host can set it, and it outlives a login in another tab, which changes the CSRF token.
 */
export const passkeyBrowser = (
  { cookieWriter, recovery }: Pick<RouteDeps, 'cookieWriter' | 'recovery'>,
  context: RequestContext,
): string => {
  const secret = context.cookies.link ?? newToken()
  // It lasts as long as for links, which have the same cookie: an earlier one must not end sooner.
  context.setCookies([cookieWriter.link(secret, recovery.askingBrowserMs)])
  return secret
}
