import type { SecondFactorSectionView } from '../../pages/account/account-view.ts'
import type { RouteDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'

/** What the account page says about codes of an app and recovery codes. */
export const findSecondFactorSection = async (
  { secondFactors, knownBrowsers }: Pick<RouteDeps, 'secondFactors' | 'knownBrowsers'>,
  { csrfToken }: RequestContext,
  { userId }: { userId: string },
): Promise<SecondFactorSectionView | undefined> => {
  const { codes, passkeys, recoveryCodes } = await secondFactors.find(userId)
  const hasFactor = codes || passkeys > 0
  if (!secondFactors.acceptsCodes && !hasFactor) return undefined
  return {
    csrfToken,
    trustedBrowsers: hasFactor ? await knownBrowsers.countTrusted(userId) : 0,
    hasApp: secondFactors.acceptsCodes ? codes : undefined,
    recoveryCodes: hasFactor ? recoveryCodes : undefined,
  }
}
