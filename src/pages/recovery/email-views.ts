import type { ProviderView } from '../provider-views.ts'
import type { FieldProblem, FormView } from '../views.ts'
import type { AskedFactorView, LinkFormErrors } from './views.ts'

/** A link that confirms a new address. */
export interface NewEmailView extends FormView {
  token: string
  /** The address of the account. */
  email: string
  newEmail: string
  /** What a press lacks in this browser, which is not the one that asked: a login, where the account has no password. */
  missing: 'password' | 'login' | undefined
  errors: { password?: FieldProblem | undefined }
}

/** A link that undoes a change of address, while the account is disabled. */
export interface UndoWaitsView {
  /** The address that the account has afterwards. */
  email: string
  expiresAtMs: number
}

/** A link that undoes a change of address. */
export interface UndoEmailView extends FormView {
  token: string
  /** The address that the account has afterwards. */
  email: string
  /** The one that was asked for. */
  newEmail: string
  /** Of another account that is signed in in this browser. */
  otherEmail: string | undefined
  /** One of these is connected to the account, where the service accepts no passwords. */
  providers: readonly ProviderView[] | undefined
  factor?: AskedFactorView | undefined
  errors: LinkFormErrors
}
