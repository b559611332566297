import type { FieldProblem } from './form-views.ts'

/** The email on the account page. */
export interface AccountEmailView {
  email: {
    isVerified: boolean
    /** The address that waits to be confirmed. */
    requested?: string | undefined
    /** Whether the address can be changed: a link is sent to the new one. */
    mailIsOn: boolean
    /** Whether svc sends messages by which it is confirmed. */
    canConfirm: boolean
    isRecentlyAuthenticated: boolean
  }
  /** The content of the field for another address. */
  newEmail: { value: string; error?: FieldProblem | undefined }
}
