import { type AskedFactor, factorMissing, type ProvedFactor, canProve } from '../../sign-in/asked-factor.ts'
import type { Services } from '../../http/services.ts'
import { enteredCode } from './codes.ts'
import type { Fields } from '../../http/body/form.ts'
import type { RequestContext } from '../../http/request-context.ts'

export interface AskedFactorView {
  /** The app of the account gives these codes. */
  codes: boolean
  recoveryCodes: boolean
  passkeys: boolean
}

/**
 * Handles the second factor on the page of a link. A link proves the mail of an account, and an email never switches a
 * factor off (CONTRACT.md 4.16). If `asked` is undefined, the link takes the account over, and no factor counts.
 */
export const createAskedFactor = ({
  secondFactors,
  passkeys,
  knownBrowsers,
}: Pick<Services, 'knownBrowsers' | 'passkeys' | 'secondFactors'>) => {
  const checkCode = async (context: RequestContext, asked: AskedFactor, code: string): Promise<ProvedFactor> => {
    const known = await knownBrowsers.find(asked.userId, context.cookies.device)
    const place = { kind: 'link', network: context.network, knownBrowser: known?.countedAs } as const
    return secondFactors.checkCode({ ...asked, code, place }, context)
  }

  const checkPasskey = async (context: RequestContext, asked: AskedFactor, response: string): Promise<ProvedFactor> => {
    const check = { ...asked, response, browserSecret: context.cookies.link }
    const { grant, proof, apply } = await passkeys.checkAssertion(check, context)
    return { apply, proof, provedAtMs: grant.authenticatedAtMs }
  }

  return {
    /** Describes what the page asks for. The result is undefined if it asks for nothing. */
    async describe(asked: AskedFactor | undefined): Promise<AskedFactorView | undefined> {
      if (!asked) return undefined
      const found = await secondFactors.findAsked(asked)
      const { codes, recoveryCodes, passkeys } = found
      return canProve(found) ? { codes, recoveryCodes: recoveryCodes > 0, passkeys: passkeys > 0 } : undefined
    },

    /**
     * Checks what the form brings, before anything else is done. The result is undefined if nothing is asked for. It
     * throws `unprocessable` if the form brings nothing; `unauthorized` for a wrong code, which counts, or a passkey
     * that proves nothing; and `rate_limited` past the limits of wrong codes.
     */
    async prove(
      context: RequestContext,
      asked: AskedFactor | undefined,
      entered: Pick<Fields, 'get'> = context.form,
    ): Promise<ProvedFactor | undefined> {
      if (!asked) return undefined
      const found = await secondFactors.findAsked(asked)
      if (!canProve(found)) return undefined
      const response = entered.get('passkey_response')
      if (response && found.passkeys > 0) return checkPasskey(context, asked, response)
      const code = enteredCode(entered)
      if (!code) throw factorMissing()
      return checkCode(context, asked, code)
    },
  }
}
