/** What becomes of a request goes to the client by these names (RFC 6749 section 4.1.2.1, OpenID Connect Core 3.1.2.6). */
export type AuthorizeError =
  | 'invalid_request'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'access_denied'
  | 'login_required'
  | 'consent_required'
  | 'interaction_required'
  | 'request_not_supported'
  | 'unmet_authentication_requirements'
  | 'temporarily_unavailable'

export interface ConsentFacts {
  /** The operator vouches for a client that is `first_party`. A `stranger` has registered itself, or has a document. */
  client: 'first_party' | 'operator' | 'stranger'
  /** Any program of a machine can be behind a redirect that leads to a `program`: to loopback or a scheme of its own. */
  redirect: 'https' | 'program'
  /** The user has allowed this client all of it before. */
  remembered: boolean
  /** `prompt` asks for consent, or for the choice of an account that nobody has made since the request began. */
  asksFor: 'consent' | 'account' | 'nothing'
}

/** `consent` asks for everything; `continue` is one button, under which nothing is explained. */
export type ConsentOutcome = 'consent' | 'continue' | 'none'

/** This table says how consent is asked for. The first row that fits decides. */
const CONSENT: readonly (readonly [when: Partial<ConsentFacts>, outcome: ConsentOutcome])[] = [
  [{ client: 'stranger' }, 'consent'],
  [{ client: 'operator', redirect: 'program' }, 'consent'],
  [{ redirect: 'program' }, 'continue'],
  [{ client: 'operator', remembered: false }, 'consent'],
  [{ client: 'operator', asksFor: 'consent' }, 'consent'],
  [{ asksFor: 'consent' }, 'continue'],
  [{ asksFor: 'account' }, 'continue'],
]

export const decideConsent = (facts: ConsentFacts): ConsentOutcome =>
  CONSENT.find(([when]) => fits(facts, when))?.[1] ?? 'none'

export interface AuthorizeFacts {
  /** `other`: another user than that of `id_token_hint` is signed in. */
  user: 'none' | 'other' | 'right'
  /** `prompt=none` shows nothing, ever. */
  silent: boolean
  /** More than one factor is asked for, and is missing, or impossible by the settings. */
  mfa: 'enough' | 'missing' | 'impossible'
  /**
   * A login or confirmation since the request began is missing: for `prompt=login` or `max_age`, or since the client is
   * a stranger, each of whose grants needs one.
   */
  proof: 'enough' | 'missing' | 'missing_for_stranger'
  consent: ConsentOutcome
}

/** These are pages of svc, the code that the client gets, or an error that it gets. */
export type AuthorizeOutcome = 'login' | 'confirm' | 'confirm_mfa' | 'consent' | 'continue' | 'code' | AuthorizeError

/** This is THE table of what happens to a request whose client and redirect are good. The first row that fits decides. */
const POLICY: readonly (readonly [when: Partial<AuthorizeFacts>, outcome: AuthorizeOutcome])[] = [
  [{ user: 'none', silent: true }, 'login_required'],
  [{ user: 'none' }, 'login'],
  [{ user: 'other' }, 'login_required'],
  [{ mfa: 'impossible' }, 'unmet_authentication_requirements'],
  [{ silent: true, proof: 'missing' }, 'login_required'],
  [{ silent: true, mfa: 'missing' }, 'interaction_required'],
  [{ silent: true, proof: 'missing_for_stranger' }, 'consent_required'],
  [{ silent: true, consent: 'consent' }, 'consent_required'],
  [{ silent: true, consent: 'continue' }, 'consent_required'],
  [{ mfa: 'missing' }, 'confirm_mfa'],
  [{ proof: 'missing' }, 'confirm'],
  [{ proof: 'missing_for_stranger' }, 'confirm'],
  [{ consent: 'consent' }, 'consent'],
  [{ consent: 'continue' }, 'continue'],
]

export const decideAuthorize = (facts: AuthorizeFacts): AuthorizeOutcome =>
  POLICY.find(([when]) => fits(facts, when))?.[1] ?? 'code'

const fits = <Facts extends object>(facts: Facts, when: Partial<Facts>): boolean =>
  (Object.keys(when) as (keyof Facts)[]).every((name) => facts[name] === when[name])
