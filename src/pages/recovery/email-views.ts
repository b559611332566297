import type { ProviderView } from '../provider-views.ts'
import type { FormView } from '../views.ts'
import type { AskedFactorView, LinkFormErrors } from './views.ts'

/** A link that confirms a new address. */
export interface NewEmailView {
  csrfToken: string
  token: string
  /** The address of the account. */
  email: string
  newEmail: string
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
