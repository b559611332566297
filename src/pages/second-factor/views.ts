import type { FieldProblem, FormProblem } from '../form-views.ts'

/** Which codes an account has: of an app, recovery codes, or both. */
export type TakenCodes = 'both' | 'codes' | 'recovery_codes'

/** What was wrong with the second factor of a form. */
export interface CodeErrors {
  code?: FieldProblem | undefined
  recovery_code?: FieldProblem | undefined
  passkey_response?: FieldProblem | undefined
}

/** What a user needs to set up an app. */
export interface SetUpView {
  /** Base32. */
  secret: string
  /** `otpauth://…` */
  uri: string
  /** Rows of modules, true for the dark ones. */
  qrCode: readonly (readonly boolean[])[]
  /** Comes back with the first code. */
  sealed: string
  error?: FieldProblem | undefined
}

/** `/auth/account/second-factor`: what there is, and what can be changed. */
export interface SecondFactorView {
  csrfToken: string
  problem?: FormProblem | undefined
  email: string
  /** An app is being set up: the first, or one in place of another. */
  setUp?: SetUpView | undefined
  hasApp: boolean
  /** How many are left; undefined where there is nothing that they could stand for. */
  recoveryCodes: number | undefined
  /** Whether a login with a password leads to a new set-up. */
  isRequired: boolean
  /** Where to go on afterwards; undefined: the account page. */
  returnTo: string | undefined
}

/** New recovery codes, which are shown once. */
export interface RecoveryCodesView {
  csrfToken: string
  email: string
  codes: readonly string[]
  /** The same for the form that makes a file of them. */
  sealed: string
  /** Where to go on. */
  returnTo: string
  /** What they come with; undefined: that was too long ago to say. */
  done: 'second_factor_set_up' | 'passkey_added' | 'recovery_codes_renewed' | undefined
}

/** The section of the account page. */
export interface SecondFactorSectionView {
  csrfToken: string
  /** In how many browsers no code is asked for. */
  trustedBrowsers: number
  /** Undefined where codes are switched off. */
  hasApp: boolean | undefined
  /** Undefined where there is nothing that they could stand for. */
  recoveryCodes: number | undefined
}
