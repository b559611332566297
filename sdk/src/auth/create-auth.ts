import { loginUrl, stepUpUrl } from '../request/login-url.ts'
import type { RequestSource } from '../request/source.ts'
import { accessTokenOf } from '../request/svc-cookies.ts'
import { type ClosableSocket, closeWith } from '../revocations/close-socket.ts'
import { type Feed, requireFeed } from '../revocations/feed.ts'
import type { SessionEnd, SessionIdentity } from '../revocations/watches.ts'
import type { User } from '../user.ts'
import { askOnce } from './ask-once.ts'
import { createSessionCheck } from './check-session.ts'
import { findUser } from './find-user.ts'
import { type AuthOptions, type AuthSettings, readSettings } from './settings.ts'
import { type AccessTokenClaims, createVerifier } from './verify-access-token.ts'

/** What an application asks svc on the server. */
export interface Auth {
  /**
   * The user of a request, or null when nobody is signed in. Asks svc once for each request object, and again a second
   * later, for connections that last. Throws `SvcUnavailableError` when svc cannot say.
   */
  getUser(source: RequestSource): Promise<User | null>
  /**
   * The access token of a request, to hand it to another service or to `verifyAccessToken`; undefined where there is
   * none. It is not verified.
   */
  getAccessToken(source: RequestSource): string | undefined
  /**
   * The claims of an access token, verified with the cached keys of svc. Throws `AccessTokenError`, or
   * `SvcUnavailableError` when the keys cannot be fetched. With the option `revocations` it refuses tokens of sessions
   * that have ended; without, only `getUser` knows.
   */
  verifyAccessToken(token: string): Promise<AccessTokenClaims>
  /**
   * Whether a session lives, by the `sid` of a user or of an access token: for connections that outlive their request.
   * Needs a key of the server API with the scope `sessions:read`. Throws `SvcUnavailableError` when svc cannot say, and
   * `AdminError` for a key that svc refuses.
   */
  checkSession(sid: string): Promise<boolean>
  /**
   * Calls back with each session that ends, from the revocation feed; needs the option `revocations`. It may be told of
   * sessions that ended before the process began. The returned function ends that.
   */
  onSessionEnded(callback: (end: SessionEnd) => unknown): () => void
  /**
   * Closes a WebSocket when its session ends, with the code 4401 and "session ended"; needs the option `revocations`. It
   * takes sockets of `ws`, of Socket.IO and of the runtime. The returned function ends the watch, which the end of the
   * socket does, too.
   */
  closeOnSessionEnd(socket: ClosableSocket, session: SessionIdentity): () => void
  /** The address of the login page that sends the user back to this request. */
  loginUrl(source: RequestSource): string
  /**
   * The address that asks the user for a second factor, unless they have proved one within ten minutes, and sends them
   * back to this request, or to a path. Who has none sets one up there first.
   */
  stepUpUrl(to: RequestSource | string): string
}

/** The feed, which begins with the first question. */
const onDemandFeed = ({ revocations, requireUrl, timeoutMs }: AuthSettings): (() => Feed) => {
  let found: Feed | undefined
  return () => {
    if (!revocations) throw new TypeError('createAuth needs the option "revocations", such as { revocations: {} }')
    found ??= requireFeed({ requireUrl, requireKey: revocations.requireKey, timeoutMs })
    return found
  }
}

/**
 * Connects an application to svc. Throws a `TypeError` for a setting that is wrong. One that is missing is an error of
 * the first question, so that modules can be loaded without the environment that they will run in.
 */
export const createAuth = (options: AuthOptions = {}): Auth => {
  const settings = readSettings(options)
  const findFeed = onDemandFeed(settings)
  return {
    async getUser(source) {
      if (typeof source !== 'object' || source === null) {
        throw new TypeError('getUser takes a request, its headers, or an object with headers')
      }
      return askOnce(settings.requireUrl(), source, () => findUser(settings, source))
    },
    getAccessToken: accessTokenOf,
    verifyAccessToken: createVerifier(settings, findFeed),
    checkSession: createSessionCheck(settings),
    onSessionEnded: (callback) => findFeed().watches.addCallback(callback),
    closeOnSessionEnd: (socket, session) => closeWith(findFeed().watches.add, socket, session),
    loginUrl,
    stepUpUrl,
  }
}
