import type { FieldProblem, FormView } from '../views.ts'

/** What follows a signup or a login whose email has to be proved first. */
export interface CheckMailView {
  /** As typed. */
  email: string
  /** After a signup the user may have typed a wrong address; after a login it is that of the account. */
  after: 'signup' | 'login'
  returnTo: string | undefined
}

/** A page of a link that proves an email. */
interface LinkView {
  csrfToken: string
  token: string
  email: string
  /** Of another account that is signed in in this browser. */
  otherEmail: string | undefined
}

/** The link of an account, in the browser that asked for it. */
export type ConfirmEmailView = LinkView

/** The same link in another browser, which a press must not be enough in. */
export interface ProveAccountView extends LinkView, FormView {
  /** Whether passwords are accepted; otherwise the user logs in first. */
  passwords: boolean
  /** Whether the account has one. */
  hasPassword: boolean
  errors: { password?: FieldProblem | undefined; new_password?: FieldProblem | undefined }
}

/** The link of a signup that waits for it. */
export interface ConfirmSignupView extends LinkView, FormView {
  /** Whether the browser is another one than that of the signup: then the user chooses a password. */
  choosesPassword: boolean
  /** What is in the field; undefined where there is no field. */
  username: string | undefined
  errors: { password?: FieldProblem | undefined; username?: FieldProblem | undefined }
}
