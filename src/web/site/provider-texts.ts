/** Joins items: "a", "a or b", "a, b or c". */
export const anyOf = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`

/** A sign-in with a provider can end without a session for these reasons; `texts.providerProblems` has their texts. */
export type ProviderProblem =
  | 'cancelled'
  | 'refused'
  | 'expired'
  | 'other_browser'
  | 'used'
  | 'unreadable'
  | 'unreachable'
  | 'unverifiable'
  | 'email_missing'
  | 'email_unverified'
  | 'domain_not_allowed'
  | 'email_domain_not_accepted'
  | 'email_reserved'
  | 'signup_closed'
  | 'disabled'
  | 'linked_elsewhere'
  | 'other_email'
  | 'other_account'
  | 'logged_out'
  | 'last_way'
  | 'no_proof'

/** Texts about a provider can contain these values. */
interface About {
  label: string
  email: string | undefined
  appName: string
  /** This tells whether the user can create an account with a password instead. */
  canSignUp: boolean
  /** These would be accepted: domains, or the email of the link. */
  accepted: readonly string[]
}

interface Words {
  title: (about: About) => string
  /** This says the reason and the remedy. */
  why: (about: About) => string
}

const address = (email: string | undefined): string => email ?? 'your email address'

/** Says what to do about the email at the provider: to correct it there, or to do without. */
const instead = ({ label, canSignUp }: About, correction: string): string =>
  canSignUp
    ? `Create an account with a password instead; you can connect ${label} to it on your account page afterwards.`
    : `${correction} at ${label}, then try again.`

export const providerProblems: Record<ProviderProblem, Words> = {
  cancelled: {
    title: () => 'You cancelled',
    why: () => 'Nothing was changed.',
  },
  refused: {
    title: ({ label }) => `${label} refused`,
    why: ({ label, appName }) =>
      `${label} answered with an error and did not say who you are. If that happens again, tell whoever runs ${appName}.`,
  },
  expired: {
    title: () => 'That took too long',
    why: ({ label }) => `For your safety, you have 10 minutes to come back from ${label}. Nothing was changed.`,
  },
  other_browser: {
    title: () => 'Not the browser it began in',
    why: () =>
      'This has to end in the browser in which it began. If it is the same one, it has lost or blocked our cookies since.',
  },
  used: {
    title: () => 'This was used already',
    why: ({ label }) =>
      `An answer from ${label} works only once. If you went back in your browser, you may well be logged in already.`,
  },
  unreadable: {
    title: () => 'This address leads nowhere',
    why: () => 'It is incomplete, or was not made by us. Start again from here.',
  },
  unreachable: {
    title: ({ label }) => `${label} can’t be reached`,
    why: ({ label }) => `${label} is not answering as it should right now. That has nothing to do with your account.`,
  },
  unverifiable: {
    title: ({ label }) => `We couldn’t verify what ${label} said`,
    why: ({ label, appName }) =>
      `So it was not used: it may not have come from ${label} at all. If that happens again, tell whoever runs ${appName}.`,
  },
  email_missing: {
    title: ({ label }) => `${label} gave no email address`,
    why: (about) => `An account here needs one. ${instead(about, 'Add one')}`,
  },
  email_unverified: {
    title: () => 'Your email address isn’t confirmed',
    why: (about) =>
      `${about.label} does not confirm that ${address(about.email)} is yours. ${instead(about, 'Confirm it')}`,
  },
  domain_not_allowed: {
    title: () => 'That account isn’t let in here',
    why: ({ label, email }) =>
      `With ${label}, only accounts of certain organisations can log in, and ${email ?? 'yours'} is not among them.`,
  },
  email_domain_not_accepted: {
    title: () => 'That address isn’t accepted here',
    why: ({ label, email, accepted }) =>
      `Accounts here have an email address of ${anyOf(accepted)}, and ${address(email)} is not one. Choose another account at ${label}.`,
  },
  email_reserved: {
    title: () => 'This email belongs to an account',
    why: ({ email }) =>
      `An account had ${address(email)} until a short time ago, and its owner can still take it back. Log in with the address that the account has now.`,
  },
  signup_closed: {
    title: () => 'New accounts aren’t open',
    why: ({ label, appName }) =>
      `No account here is connected to this ${label} account. If you have one, log in and connect ${label} on your account page. If not, ask whoever runs ${appName}.`,
  },
  disabled: {
    title: () => 'This account is disabled',
    why: ({ appName }) => `Nobody can log in to it for now. Ask whoever runs ${appName}.`,
  },
  linked_elsewhere: {
    title: () => 'Connected to another account',
    why: ({ label }) =>
      `This ${label} account belongs to another account here. Disconnect it there first, or connect another one.`,
  },
  other_email: {
    title: () => 'Not the address of your link',
    why: ({ label, accepted }) =>
      `Your link is for ${accepted.join()}, and ${label} does not say that this address is yours. Choose another account at ${label}, or open the link again and go on another way.`,
  },
  other_account: {
    title: () => 'Not the account we expected',
    why: ({ label, appName }) =>
      `This ${label} account isn’t connected to your ${appName} account. Use the one that is.`,
  },
  logged_out: {
    title: () => 'You were logged out meanwhile',
    why: () => 'So nothing was changed. Log in, then try again.',
  },
  last_way: {
    title: () => 'This is your only way to log in',
    why: () => 'Without it you could not get back in. Add another way to log in first.',
  },
  no_proof: {
    title: () => 'There is already an account',
    why: ({ email, appName }) =>
      `It has ${address(email)}, and there is nothing here by which you could show that it is yours. Ask whoever runs ${appName}.`,
  },
}
