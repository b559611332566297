import { html } from '../../lib/html.ts'
import { checkbox, textField } from '../site/ask.ts'
import { wordList, plural } from '../site/parts.ts'
import { AppError } from '../../lib/errors.ts'
import { linkActs } from './link-acts.ts'
import { sessionActs } from './session-acts.ts'
import { endingLines, type UserAct } from './user-act.ts'

const disable: UserAct = {
  path: 'disable',
  does: 'user.disable',
  event: 'account_disable',
  title: 'Disable the account',
  ask: (_services, subject) =>
    subject.user.disabled
      ? 'The account is disabled already.'
      : {
          ends: [
            ...endingLines(subject),
            'Links that were sent no longer work.',
            'The user cannot sign in until the account is enabled again. Nothing is deleted.',
          ],
          button: 'Disable the account',
          isDanger: true,
        },
  async act({ users }, { user, sessions }, _context, caller) {
    await users.change(user.id, { disabled: true }, caller)
    return `The account is disabled, and ${plural(sessions, 'session')} ended. To take it back, enable the account.`
  },
}

const enable: UserAct = {
  path: 'enable',
  does: 'user.enable',
  event: 'account_enable',
  title: 'Enable the account',
  ask: (_services, { user }) =>
    user.disabled
      ? { ends: ['The user can sign in again, in the same ways as before.'], button: 'Enable the account' }
      : 'The account is not disabled.',
  async act({ users }, { user }, _context, caller) {
    await users.change(user.id, { disabled: false }, caller)
    return 'The user can sign in again. To take it back, disable the account.'
  },
}

const deletion: UserAct = {
  path: 'delete',
  does: 'user.delete',
  event: 'account_delete',
  title: 'Delete the account',
  ask: (_services, subject, _context, refusal) => ({
    ends: [
      ...endingLines(subject),
      'All that svc keeps about the user is deleted; records keep the id, and what happened when.',
      'The application is told of it. Nobody can take it back.',
    ],
    fields: textField(
      { name: 'confirmation', label: 'The email address of the account', hint: `Type ${subject.user.email}` },
      refusal,
    ),
    button: 'Delete the account',
    isDanger: true,
  }),
  async act({ users }, { user }, { form }, caller) {
    if (form.get('confirmation')?.trim().toLowerCase() !== user.email.toLowerCase()) {
      const message = `Type the email address of the account that is to be deleted: ${user.email}.`
      throw new AppError('unprocessable', message, { field: 'confirmation' })
    }
    await users.delete(user.id, caller)
    return { path: '/#done', done: `${user.email} is deleted. Nobody can take it back.` }
  },
}

const setRoles: UserAct = {
  path: 'roles',
  does: 'user.set_roles',
  event: 'roles_change',
  title: 'Change the roles',
  ask: (_services, { user }, { form }, refusal) => ({
    ends: [
      'They replace the roles that the user has. The application learns of them with its next request.',
      user.isSelfMade && user.emailVerifiedAtMs === undefined
        ? 'The email address is not verified: if its owner takes the account over, the roles go.'
        : undefined,
    ],
    fields: textField(
      {
        name: 'roles',
        label: 'Roles, with spaces between them',
        value: form.get('roles') ?? user.roles.join(' '),
        isOptional: true,
        hint: 'The application decides what a role allows.',
      },
      refusal,
    ),
    button: 'Change the roles',
  }),
  async act({ users }, { user }, { form }, caller) {
    const roles = (form.get('roles') ?? '').split(/[\s,]+/).filter(Boolean)
    await users.change(user.id, { roles }, caller)
    const before = user.roles.join(' ') || 'none'
    return `The roles are ${roles.join(' ') || 'none'} now. To take it back, change them to: ${before}.`
  },
}

const setEmail: UserAct = {
  path: 'email',
  does: 'user.set_email',
  event: 'email_change',
  title: 'Change the email address',
  ask: ({ mail }, { user }, { form }, refusal) => ({
    ends: [
      'Links that were sent before no longer work.',
      mail.isOn && !user.disabled
        ? `${user.email} gets a message${user.emailVerifiedAtMs === undefined ? '' : ' with a link that undoes the change, for 72 hours'}.`
        : undefined,
    ],
    fields: html`${textField({ name: 'email', label: 'New email address', type: 'email', value: form.get('email') }, refusal)}${checkbox('verified', 'I know that the address belongs to the user', form.get('verified') === '1', 'Otherwise it counts as not verified.')}${checkbox('stolen', 'Other addresses of the account may belong to a thief', form.get('stolen') === '1', 'Then they get no message with a link, and all sessions end.')}`,
    button: 'Change the address',
  }),
  async act({ users }, { user }, { form }, caller) {
    const email = form.get('email') ?? ''
    const isVerified = form.get('verified') === '1'
    // Left out, it follows from the account.
    const stolen = form.get('stolen') === '1' ? true : undefined
    await users.change(user.id, { email, emailVerified: isVerified || undefined, stolen }, caller)
    return `The address is ${email.trim()} now${isVerified ? ', and verified' : ''}. To take it back, change it to ${user.email}.`
  },
}

const verifyEmail: UserAct = {
  path: 'verify-email',
  does: 'user.verify_email',
  event: 'email_verification',
  title: 'Vouch for the email address',
  ask: (_services, { user }) =>
    user.emailVerifiedAtMs === undefined
      ? {
          ends: [
            `You know that ${user.email} belongs to the user who has this account.`,
            'They keep it: the owner of the address cannot take it over any more.',
          ],
          button: 'Vouch for the address',
        }
      : 'The address is verified already.',
  async act({ users }, { user }, _context, caller) {
    await users.change(user.id, { emailVerified: true }, caller)
    return `${user.email} counts as verified. Nobody can take it back but with another address.`
  },
}

const setUsername: UserAct = {
  path: 'username',
  does: 'user.set_username',
  event: 'username_change',
  title: 'Change the username',
  ask: (_services, { user }, { form }, refusal) => ({
    ends: ['The former username is free for others.'],
    fields: textField(
      { name: 'username', label: 'New username', value: form.get('username') ?? user.username },
      refusal,
    ),
    button: 'Change the username',
  }),
  async act({ users }, { user }, { form }, caller) {
    const username = form.get('username') ?? ''
    await users.change(user.id, { username }, caller)
    return `The username is ${username.toLowerCase()} now. To take it back, change it to ${user.username}.`
  },
}

const unlock: UserAct = {
  path: 'unlock',
  does: 'user.unlock',
  event: 'account_unlock',
  title: 'Unlock logins',
  ask: () => ({
    ends: ['Wrong passwords of the last hours are forgotten, and the user can log in again at once.'],
    button: 'Unlock logins',
  }),
  async act({ users }, { user }, _context, caller) {
    await users.unlock(user.id, caller)
    return 'The user can log in again. Wrong passwords count from zero.'
  },
}

const resetSecondFactor: UserAct = {
  path: 'reset-second-factor',
  does: 'user.reset_second_factor',
  event: 'second_factor_reset',
  title: 'Reset the second step',
  ask: (_services, subject, { form }) => ({
    ends: [
      'Be sure who asks: the password of the account, or its mailbox, opens it afterwards.',
      'The app and all recovery codes are removed.',
      ...endingLines(subject),
    ],
    fields: checkbox(
      'passkeys',
      `Remove ${plural(subject.user.passkeys, 'passkey')} too`,
      form.get('passkeys') === '1',
    ),
    button: 'Reset it',
    isDanger: true,
  }),
  async act({ users }, { user }, { form }, caller) {
    const removed = await users.resetSecondFactors(user.id, { passkeys: form.get('passkeys') === '1' }, caller)
    const what = [
      ...(removed.codes ? ['the app'] : []),
      ...(removed.recoveryCodes > 0 ? [plural(removed.recoveryCodes, 'recovery code')] : []),
      ...(removed.passkeys.length > 0 ? [plural(removed.passkeys.length, 'passkey')] : []),
    ]
    return `Removed: ${wordList(what) || 'nothing'}. ${plural(removed.sessions, 'session')} ended. The user can set it up again.`
  },
}

/** THE table of what can be done to an account. Each row has its page, its role, and the subject's function that does it. */
export const USER_ACTS: readonly UserAct[] = [
  disable,
  enable,
  deletion,
  ...sessionActs,
  setRoles,
  setEmail,
  verifyEmail,
  setUsername,
  unlock,
  resetSecondFactor,
  ...linkActs,
]
