import type { KnownDevice } from '../lib/device.ts'
import type { LimitedLoginsOfAccount } from '../lib/limited-logins.ts'
import type { Transaction } from '../storage/database.ts'

/** A link with a token works once, until its time is over. */
interface TimedLink {
  /** The path and the query count: the base URL of the time at which the message is sent comes before them. */
  url: string
  lifetimeMs: number
}

interface About {
  /** This is the address of the account, or the one that the account would get. */
  email: string
  /** This is the time of the request, or of the event. */
  occurredAtMs: number
  /** This is the device of the request, if there was one. */
  device?: KnownDevice
  /** This is the language of the recipient, if it is known. It is never that of the user who caused the message. */
  language?: string | undefined
}

/** A message that signs in says from where it was asked for, so that its reader can tell a request of a stranger. */
interface SignInPlace {
  network?: string | undefined
}

/** These are further values of a message about the owner's own account: who acted, and from which device. */
export interface NoticeContext extends About {
  /** An `operator` acts by the command line or the API. */
  by: 'user' | 'operator'
  /** This is the network address of the request. Notices alone name it: a stranger may ask for a link. */
  address?: string
  /**
   * The message is a copy for the address that the account had until a short time ago. `email` is the one that it has.
   */
  toFormerAddress?: boolean
}

/** `access_changed`: an operator did something by the command line. */
export type AdministrationEvent = 'signed_in' | 'passkey_added' | 'passkey_removed' | 'access_changed'

/** The message brings a link, or the answer that there is none. */
type LinkMessage =
  | (About & TimedLink & { kind: 'reset'; by: 'user' | 'operator' })
  | (About & TimedLink & { kind: 'verify' })
  /** It goes to the new address, which may belong to a stranger. */
  | (About & TimedLink & { kind: 'new_email' })
  | (About & TimedLink & { kind: 'invite' })
  /** It comes before the first second factor or passkey is set up in a new browser. */
  | (About & TimedLink & { kind: 'first_factor' })
  /** It signs in. `reclaims`: nobody has proved the address yet, and elsewhere than at the signup it is taken over. */
  | (About & SignInPlace & TimedLink & { kind: 'sign_in'; code: string; reclaims?: boolean })
  /** It replaces `sign_in` for an address without an account, and makes one. */
  | (About & SignInPlace & TimedLink & { kind: 'sign_in_new'; code: string })
  /** It replaces `sign_in` for an account with a passkey. The link works in browsers that the account knows. */
  | (About & SignInPlace & TimedLink & { kind: 'sign_in_by_passkey' })
  /** By it the user of a session signs in again. */
  | (About & SignInPlace & { kind: 'confirm_code'; code: string; lifetimeMs: number })
  /** It replaces `verify` for an address that has an account. `url` is the login page. */
  | (About & { kind: 'account_exists'; url: string })
  /** It replaces `new_email` for an address that has an account. */
  | (About & { kind: 'email_taken' })
  /** It replaces `verify` or `new_email` for an address that another account has left, and can put back. */
  | (About & { kind: 'email_reserved' })
  /** It goes to an unconfirmed address that an account has left: maybe a stranger's, so the new one is not named. */
  | (About & { kind: 'email_left' })
  /** It tells an administrator what happened to their access. They are no user. */
  | (About & {
      kind: 'administration'
      event: AdministrationEvent
      administrator: string
      /** This is the host of the pages. */
      place: string
      address?: string
    })
  /** An operator sends it, to see whether mail works. */
  | (About & { kind: 'test' })
  /** It goes to the old address (`email`), when a change of address is requested, and again when it is made. */
  | (NoticeContext & TimedLink & { kind: 'undo'; step: 'requested' | 'changed'; newEmail: string })

/** Clients of the OAuth server have lost their access by the event. */
interface EndsApplications {
  applicationsEnded?: boolean
}

/**
 * The type is an event of an account. `NoticeContext` says when it happened, who acted and from which device. `notMe`
 * is missing in a copy for an address that an operator has left.
 */
export type Notice =
  | { kind: 'email_changed'; oldEmail: string; newEmail: string }
  | { kind: 'username_changed'; oldUsername: string; newUsername: string }
  /** The name of a person stays out of messages, as that of a passkey does. */
  | { kind: 'name_changed' }
  /** `set`: the account had none. `reset`: a link that was sent or handed over set it. */
  | ({ kind: 'password_changed'; how: 'changed' | 'set' | 'reset' } & EndsApplications)
  /** `provider` is its label, as the operator configured it. */
  | { kind: 'provider_connected'; provider: string; notMe?: TimedLink | undefined }
  | { kind: 'provider_removed'; provider: string }
  /** The name of a passkey stays out of messages: an attacker could write to strangers with it. */
  | { kind: 'passkey_added'; notMe?: TimedLink | undefined }
  | { kind: 'passkey_removed' }
  | { kind: 'second_factor_set_up'; notMe?: TimedLink | undefined }
  | { kind: 'second_factor_removed' }
  /** An operator did it. `codes`: there was an authenticator app. `passkeys`: how many went too. */
  | ({ kind: 'second_factor_reset'; codes: boolean; passkeys: number } & EndsApplications)
  | { kind: 'recovery_code_used'; left: number }
  | { kind: 'recovery_codes_renewed' }
  /** A right password, a provider or a link was followed by three wrong codes. */
  | { kind: 'wrong_codes' }
  | { kind: 'account_deleted' }
  | { kind: 'account_exported' }
  /** The address of an unverified account was shown to belong to the recipient, who has the account now. */
  | ({ kind: 'account_taken_over' } & EndsApplications)
  /** There were too many failed logins to the account. */
  | { kind: 'login_limited'; logins: LimitedLoginsOfAccount }
  | { kind: 'new_browser'; notMe?: TimedLink | undefined }
  /** An operator has made a link by which anyone signs in. */
  | { kind: 'sign_in_link_created' }
  /** A client of the OAuth server may use the account. `host` is missing for a program of the user's own. */
  | { kind: 'application_connected'; application?: string; host?: string; notMe?: TimedLink | undefined }

export type NoticeMessage = Notice & NoticeContext

/** These are all messages that svc sends. They are plain data, and survive JSON. */
export type Message = LinkMessage | NoticeMessage

export type LinkKind = LinkMessage['kind']
export type MessageOf<Kind extends Message['kind']> = Extract<Message, { kind: Kind }>

export interface OutgoingMessage {
  to: string
  /** The message is about this account. */
  userId: string | undefined
  message: Message
  /** The message is not sent once this link is no longer live. */
  linkId?: string | undefined
  /** No attempt begins after this time: when the link ends, or 24 hours later for a notice. */
  expiresAtMs: number
}

/**
 * A user asked for this message by entering an address. Nothing was looked up yet, so that the response takes the same
 * time whether or not the address has an account.
 */
export interface MailRequest {
  purpose: 'reset' | 'signup' | 'new_email' | 'login_limited' | 'sign_in'
  /** This is the text that was entered. */
  to: string
  /** `prepare` needs these values; they are sealed in the database. */
  details: Record<string, string | undefined>
  expiresAtMs: number
}

/** Turns a request into a message; resolves to undefined when there is nothing to send. */
export type PrepareMessage = (transaction: Transaction, request: MailRequest) => Promise<OutgoingMessage | undefined>
