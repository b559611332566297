import { loginUrl, stepUpUrl } from '../request/login-url.ts'
import type { RequestSource } from '../request/source.ts'
import type { User } from '../user.ts'
import { findUser } from './find-user.ts'
import { type AuthOptions, readSettings } from './settings.ts'
import { type AccessTokenClaims, createVerifier } from './verify-access-token.ts'

/** What an application asks svc on the server. */
export interface Auth {
  /**
   * The user of a request, or null when nobody is signed in. Asks svc once for each request object. Throws
   * `SvcUnavailableError` when svc cannot say.
   */
  getUser(source: RequestSource): Promise<User | null>
  /**
   * The claims of an access token, verified with the cached keys of svc. Throws `AccessTokenError`, or
   * `SvcUnavailableError` when the keys cannot be fetched. Whether the session has ended, only `getUser` knows.
   */
  verifyAccessToken(token: string): Promise<AccessTokenClaims>
  /** The address of the login page that sends the user back to this request. */
  loginUrl(source: RequestSource): string
  /**
   * The address that asks the user for a second factor, unless they have proved one within ten minutes, and sends them
   * back to this request, or to a path. Who has none sets one up there first.
   */
  stepUpUrl(to: RequestSource | string): string
}

type Questions = WeakMap<object, Promise<User | null>>

/** By the address of svc, so that a middleware and the handler behind it share what they ask. */
const questionsTo = new Map<string, Questions>()

const findQuestions = (url: string): Questions => {
  const questions = questionsTo.get(url) ?? new WeakMap<object, Promise<User | null>>()
  questionsTo.set(url, questions)
  return questions
}

/** Connects an application to svc. Throws a `TypeError` for a setting that is missing or wrong. */
export const createAuth = (options: AuthOptions = {}): Auth => {
  const settings = readSettings(options)
  const questions = findQuestions(settings.url)
  return {
    getUser(source) {
      if (typeof source !== 'object' || source === null) {
        return Promise.reject(new TypeError('getUser takes a request, its headers, or an object with headers'))
      }
      const asked = questions.get(source)
      if (asked) return asked
      const question = findUser(settings, source)
      questions.set(source, question)
      return question
    },
    verifyAccessToken: createVerifier(settings),
    loginUrl,
    stepUpUrl,
  }
}
