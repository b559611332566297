import type { KnownDevice } from '../lib/device.ts'

/** A link with a token. It works once, until its time is over. */
interface TimedLink {
  /** The whole address, which begins with the base URL. */
  url: string
  expiresAtMs: number
}

/** What holds for every message. */
interface About {
  /** The address of the account, or the one that the account would get. */
  email: string
  /** When it was asked for, or when it happened. */
  occurredAtMs: number
  /** The device of the request, where there was one. */
  device?: KnownDevice
}

/** What a message about the owner's own account tells besides: who did it, and from where. */
export interface NoticeContext extends About {
  /** `operator`: by the command line or the API. */
  by: 'user' | 'operator'
  /** The network address of the request. Only notices name it: who asks for a link may be a stranger. */
  address?: string
}

/** A message that brings a link which was asked for, or the answer that there is none. */
type LinkMessage = About &
  (
    | ({ kind: 'reset'; by: 'user' | 'operator' } & TimedLink)
    | ({ kind: 'verify' } & TimedLink)
    /** To the new address, which may belong to a stranger. */
    | ({ kind: 'new_email' } & TimedLink)
    | ({ kind: 'invite' } & TimedLink)
    /** Instead of `verify`, to an address that has an account. `url` is the login page. */
    | { kind: 'account_exists'; url: string }
    /** Instead of `new_email`, to an address that has an account. */
    | { kind: 'email_taken' }
  )

/** To the old address (`email`), when a change of address is requested, and again when it is made. */
type UndoMessage = NoticeContext & {
  kind: 'undo'
  step: 'requested' | 'changed'
  newEmail: string
} & TimedLink

/** What happened to an account. `NoticeContext` says when, by whom and from where. */
export type Notice =
  | { kind: 'email_changed'; oldEmail: string; newEmail: string }
  | { kind: 'username_changed'; oldUsername: string; newUsername: string }
  /** `set`: it had none. `reset`: by a link that was sent or handed over. */
  | { kind: 'password_changed'; how: 'changed' | 'set' | 'reset' }
  /** `provider` is its label, as the operator configured it. */
  | { kind: 'provider_connected'; provider: string; notMe: TimedLink }
  | { kind: 'provider_removed'; provider: string }
  | { kind: 'account_deleted' }
  | { kind: 'account_taken_over' }
  | { kind: 'login_limited' }
  | { kind: 'new_browser'; notMe: TimedLink }

/** Everything that svc sends. It is plain data, and survives JSON. */
export type Message = LinkMessage | UndoMessage | (Notice & NoticeContext)
