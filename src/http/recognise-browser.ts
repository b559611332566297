import type { KnownBrowsers, RecognisedBrowser } from '../sign-in/known-browsers.ts'
import type { StartOptions } from '../sessions/sessions.ts'
import type { Notify } from '../accounts/account-notice.ts'
import type { CookieWriter } from './cookie-writer.ts'
import type { RequestContext } from './request-context.ts'

/**
 * This says how the account gets to know the browser. `announced`: it knows the browser from now on, and the user is
 * told if it is new. `silent`: it does too, and the user is not told, since they have just followed a link from their
 * mail, or are signed in there already. `not_yet`: it does not, after a signup whose address nobody has proved.
 */
export type BrowserRecognition = 'announced' | 'silent' | 'not_yet'

interface Recognition {
  /** Resolves to the hash of the browser's secret. */
  recognise: StartOptions['recogniseBrowser']
  /** Tells, after the commit, whether the account knew the browser already. */
  isKnown: () => boolean
  /** This is called after the commit. */
  setCookie: () => void
}

interface RecognisedUser {
  userId: string
  browser: BrowserRecognition
  /** This tells whether the user has asked, after a right code, not to be asked for one here again. */
  trusts?: boolean
  /**
   * This is the hash of the browser of the session that the user has confirmed, if they have proved nothing else. No
   * other browser becomes known by it, such as that of a thief of the session.
   */
  sessionBrowser?: string | undefined
}

export interface RecognitionDeps {
  knownBrowsers: KnownBrowsers
  notify: Notify
  cookieWriter: CookieWriter
}

/** Recognises the browser of a request by its cookie, in the transaction that starts a session. */
export const createRecognition = (
  { knownBrowsers, notify, cookieWriter }: RecognitionDeps,
  context: RequestContext,
  { userId, browser, trusts = false, sessionBrowser }: RecognisedUser,
): Recognition => {
  const held = context.cookies.device
  let recognised: RecognisedBrowser | undefined

  return {
    async recognise(transaction) {
      if (sessionBrowser !== undefined && knownBrowsers.introduce(held).deviceHash !== sessionBrowser)
        return sessionBrowser
      recognised =
        browser === 'not_yet'
          ? knownBrowsers.introduce(held)
          : await knownBrowsers.recordSignIn(transaction, userId, held)
      const { deviceHash, wasKnown } = recognised
      if (browser === 'announced' && !wasKnown) {
        await notify(transaction, userId, { kind: 'new_browser', deviceHash }, context)
      }
      if (trusts && browser !== 'not_yet' && knownBrowsers.trustMs > 0)
        recognised = await knownBrowsers.trust(transaction, userId, recognised)
      return recognised.deviceHash
    },

    isKnown: () => recognised?.wasKnown === true,

    setCookie() {
      if (recognised) context.setCookies([cookieWriter.device(recognised.secret)])
    },
  }
}
