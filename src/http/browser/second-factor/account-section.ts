import type { SecondFactorSectionView } from '../../../pages/pages.ts'
import type { RouteDeps } from '../../deps.ts'

/** What the account page says about codes of an app and recovery codes. */
export const createSecondFactorSection =
  ({ secondFactors }: Pick<RouteDeps, 'secondFactors'>) =>
  async ({ userId }: { userId: string }): Promise<SecondFactorSectionView | undefined> => {
    const { codes, passkeys, recoveryCodes } = await secondFactors.find(userId)
    const hasFactor = codes || passkeys > 0
    if (!secondFactors.acceptsCodes && !hasFactor) return undefined
    return {
      hasApp: secondFactors.acceptsCodes ? codes : undefined,
      recoveryCodes: hasFactor ? recoveryCodes : undefined,
    }
  }
