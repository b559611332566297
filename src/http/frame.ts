import type { DeadLinkError } from '../links/link.ts'

export interface ErrorView {
  status: number
  /** This message is shown where there is no text for the reason or the status. */
  message: string
  /** This is the reason of the error in one word. */
  reason?: string | undefined
  requestId: string
  retryAfterSeconds: number | undefined
  /** This is the `return_to` of a form that was refused because it was too old: the page then offers to start again. */
  returnTo?: string | undefined
}

/** A form was sent after the user was logged out. */
export interface NotSentView {
  /** The form was sent there, or its user goes on there after a login. */
  returnTo: string
  requestId: string
}

interface PickerView {
  csrfToken: string
  /** The form leads there; undefined: to the page that it stands on, which `Referer` names. */
  returnTo: string | undefined
}

export type DeadLinkView = Pick<DeadLinkError, 'purpose' | 'state'>

/** The kernel answers with these pages, which `web/site/` makes. They are ready when the service listens. */
export interface Frame {
  /** Makes the `Content-Security-Policy` header of a page that may have been opened on these hosts. */
  contentSecurityPolicy: (hosts: readonly string[]) => string
  /** Puts the form with which people choose the language at the foot of a page; it leads back to this address. */
  withPicker(page: string, view: PickerView): string
  error(view: ErrorView): string
  deadLink(view: DeadLinkView): string
  notSent(view: NotSentView): string
  wasLoggedOut(view: NotSentView): string
}
