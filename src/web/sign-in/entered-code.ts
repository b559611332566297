import type { TakenCodes } from '../../pages/site/code-field.ts'
import type { AccountFactors } from '../../second-factor/second-factors.ts'
import type { Fields } from '../../http/body/form.ts'

/** The code that a form brings, in either of its fields; a recovery code is good in both. */
export const enteredCode = ({ get }: Pick<Fields, 'get'>): string | undefined =>
  get('recovery_code')?.trim() || get('code')?.trim()

/** Which codes an account has. */
export const takenCodes = ({ codes, recoveryCodes }: AccountFactors): TakenCodes | undefined => {
  if (codes) return recoveryCodes > 0 ? 'both' : 'codes'
  return recoveryCodes > 0 ? 'recovery_codes' : undefined
}
