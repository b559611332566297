import type { FieldProblem, FormProblem } from './form-views.ts'
import type { ProviderView } from './provider-views.ts'
import type { CodeErrors, TakenCodes } from './second-factor/views.ts'

/** A signed-in user re-authenticates. */
export interface ReauthenticationView {
  csrfToken: string
  problem?: FormProblem | undefined
  email: string
  hasPassword: boolean
  /** The providers that are connected to the account. */
  providers: readonly ProviderView[]
  hasPasskeys: boolean
  /** What is asked for together with the password. */
  code: TakenCodes | undefined
  /** As it was typed, where it was not looked at. */
  codeValue?: string | undefined
  /** What the address of the page asks for. */
  returnTo: string | undefined
  acr: string | undefined
  /** Where the user goes afterwards. */
  target: string
  /** Whether the user sets up a second factor afterwards. */
  setsUpNext: boolean
  errors: CodeErrors & { password?: FieldProblem | undefined }
}
