/**
 * These are all texts of messages, each a whole sentence or label. `{name}` stands for a value. `_one` and `_other` are
 * plural forms, as `Intl.PluralRules` names them; `_passwordless` is for a service whose accounts have no passwords.
 */
export const messageTexts = {
  'mail.reset.title': 'Reset your password',
  'mail.reset.title_passwordless': 'Recover your account',
  'mail.reset.what': 'We received a request to reset your {app} password.',
  'mail.reset.what_passwordless': 'We received a request to recover your {app} account.',
  'mail.reset.by_operator': 'An administrator sent you this link to reset your {app} password.',
  'mail.reset.by_operator_passwordless': 'An administrator sent you this link to recover your {app} account.',
  'mail.reset.button': 'Reset password',
  'mail.reset.button_passwordless': 'Recover account',
  'mail.reset.not_me': 'If you didn’t ask for this, ignore this message. Nothing changes.',
  'mail.reset.unneeded': 'If you don’t need it, ignore this message. Nothing changes.',

  'mail.verify.title': 'Confirm your email address',
  'mail.verify.what': 'This email address was entered for an account at {app}. Confirm that it’s yours.',
  'mail.verify.button': 'Confirm email address',
  'mail.verify.not_me': 'If this wasn’t you, ignore this message. Your address stays unconfirmed.',

  'mail.account_exists.title': 'You already have an account',
  'mail.account_exists.what': 'This email address was entered for a new account at {app}. Log in to the one you have.',
  'mail.account_exists.button': 'Log in',
  'mail.account_exists.help': 'Can’t log in? That page helps you get back in.',
  'mail.account_exists.not_me': 'If this wasn’t you, ignore this message. Nobody learned that you have an account.',

  'mail.first_factor.title': 'Confirm it’s you',
  'mail.first_factor.what':
    'Someone who is logged in to your {app} account is adding a passkey or an authenticator app in a new browser. If it’s you, continue in that browser.',
  'mail.first_factor.button': 'Continue',
  'mail.first_factor.not_me': 'If it isn’t you, don’t continue: someone knows your password. Reset it now.',
  'mail.first_factor.not_me_passwordless':
    'If it isn’t you, don’t continue: someone is in your account. Log in, and log out all other devices.',

  'mail.new_email.title': 'Confirm your new email address',
  'mail.new_email.what':
    'This email address was entered as the new address of an account at {app}. Confirm that it’s yours.',
  'mail.new_email.button': 'Confirm email address',
  'mail.new_email.not_me': 'If this wasn’t you, ignore this message. Your address won’t be used.',

  'mail.email_taken.title': 'This address already has an account',
  'mail.email_taken.what': 'Someone tried to use this email address for another {app} account. Nothing was changed.',
  'mail.email_taken.me':
    'If this was you, log in to the account that has this address, and delete it or change its address. Then try again.',
  'mail.email_taken.not_me': 'If not, ignore this message. Nobody learned that you have an account.',

  'mail.email_reserved.title': 'This address can’t be used yet',
  'mail.email_reserved.what':
    'This email address was entered for an account at {app}. It recently belonged to another account, so it can’t be used for 72 hours.',
  'mail.email_reserved.me':
    'If this was you, try again later. If the other account is yours, our message about the change has a link to restore this address.',
  'mail.email_reserved.not_me': 'If not, ignore this message. Nothing was changed.',

  'mail.email_left.title': 'Your address was removed from an account',
  'mail.email_left.what':
    'An account at {app} had this email address, but nobody confirmed it. The account now has another one, and you won’t get more messages about it.',
  'mail.email_left.me': 'If you did this, or the account isn’t yours, there’s nothing to do.',
  'mail.email_left.not_me': 'If the account is yours and you didn’t do this, contact support.',

  'mail.test.title': 'Test message from {app}',
  'mail.test.what': 'An administrator sent this to check that mail works. It does.',

  'mail.invite.title': 'You’re invited to {app}',
  'mail.invite.what': 'Accept the invitation, and choose how you want to log in.',
  'mail.invite.button': 'Accept invitation',
  'mail.invite.not_me': 'If you don’t want to join, ignore this message. The account stays closed.',

  'mail.undo.requested.title': 'Your email address is about to change',
  'mail.undo.requested.what':
    'Your {app} account will use {newEmail} instead of {email} once the new address is confirmed.',
  'mail.undo.requested.not_me': 'If not, stop the change. This logs out all devices and asks for a new password.',
  'mail.undo.requested.not_me_passwordless': 'If not, stop the change. This logs out all devices.',
  'mail.undo.requested.button': 'Stop the change',
  'mail.undo.requested.life': 'This link works until 72 hours after the change.',
  'mail.undo.changed.title': 'Your email address was changed',
  'mail.undo.changed.what': 'Your {app} account now uses {newEmail} instead of {email}.',
  'mail.undo.changed.expected': 'If you expected this, there’s nothing to do.',
  'mail.undo.changed.not_me': 'If not, restore your address. This logs out all devices and asks for a new password.',
  'mail.undo.changed.not_me_passwordless': 'If not, restore your address. This logs out all devices.',
  'mail.undo.changed.button': 'Restore my address',

  'mail.email_changed.title': 'Your email address was changed',
  'mail.email_changed.what': 'Your {app} account now uses {newEmail} instead of {oldEmail}.',
  'mail.username_changed.title': 'Your username was changed',
  'mail.username_changed.what': 'Your {app} username is now {newUsername}. It was {oldUsername}.',
  'mail.name_changed.title': 'Your name was changed',
  'mail.name_changed.what': 'The name on your {app} account was changed. You can see it on your account page.',

  'mail.password_changed.title': 'Your password was changed',
  'mail.password_changed.what': 'Your {app} account has a new password. All other devices were logged out.',
  'mail.password_changed.by_operator': 'Your {app} account has a new password. All devices were logged out.',
  'mail.password_reset.title': 'Your password was reset',
  'mail.password_reset.what': 'Your {app} password was reset with a link. All devices were logged out.',
  'mail.password_set.title': 'A password was added to your account',
  'mail.password_set.what': 'Your {app} account now has a password. All other devices were logged out.',
  'mail.password_set.by_operator': 'Your {app} account now has a password. All devices were logged out.',

  'mail.provider_connected.title': '{provider} was connected to your account',
  'mail.provider_connected.what': 'You can now log in to {app} with {provider}.',
  'mail.provider_removed.title': '{provider} was disconnected from your account',
  'mail.provider_removed.what': 'You can no longer log in to {app} with {provider}.',

  'mail.passkey_added.title': 'A passkey was added to your account',
  'mail.passkey_added.what': 'You can now log in to {app} with it.',
  'mail.passkey_removed.title': 'A passkey was removed from your account',
  'mail.passkey_removed.what': 'You can no longer log in to {app} with it.',

  'mail.second_factor_set_up.title': 'An authenticator app was added to your account',
  'mail.second_factor_set_up.what': 'Two-step verification now asks for a code from it when you log in to {app}.',
  'mail.second_factor_removed.title': 'An authenticator app was removed from your account',
  'mail.second_factor_removed.what': 'Logging in to {app} no longer takes a code from it.',
  'mail.second_factor_reset.title': 'Your two-step verification was reset',
  'mail.second_factor_reset.what': 'Removed from your {app} account: {removed}. All devices were logged out.',
  'mail.second_factor_reset.app': 'authenticator app',
  'mail.second_factor_reset.recovery_codes': 'recovery codes',
  'mail.second_factor_reset.passkeys_one': 'one passkey',
  'mail.second_factor_reset.passkeys_other': '{count} passkeys',
  'mail.second_factor_reset.again': 'You can set it up again on your account page.',

  'mail.recovery_code_used.title': 'A recovery code was used',
  'mail.recovery_code_used.what': 'It gave access to your {app} account, and no longer works.',
  'mail.recovery_code_used.none_left': 'You have none left. Create new ones on your account page.',
  'mail.recovery_code_used.left_one': 'You have one left.',
  'mail.recovery_code_used.left_other': 'You have {count} left.',
  'mail.recovery_codes_renewed.title': 'New recovery codes were created',
  'mail.recovery_codes_renewed.what': 'The old codes of your {app} account no longer work.',

  'mail.wrong_codes.title': 'Wrong codes were entered',
  'mail.wrong_codes.what': 'Someone reached the code step of your {app} account and entered wrong codes.',
  'mail.wrong_codes.me': 'If this was you, you can use a recovery code instead.',
  'mail.wrong_codes.not_me':
    'If not, someone knows your password or reads your email. Reset your password now, and secure your mailbox.',
  'mail.wrong_codes.not_me_passwordless':
    'If not, someone reads your email or uses the service that you log in with. Secure both.',

  'mail.account_deleted.title': 'Your account was deleted',
  'mail.account_deleted.what': 'Your {app} account was deleted. This can’t be undone.',
  'mail.account_deleted.unwanted': 'If you didn’t want this, contact support.',

  'mail.account_taken_over.title': 'This account is now yours',
  'mail.account_taken_over.what':
    'The {app} account with {email} is now yours. Nobody had confirmed this address before.',
  'mail.account_taken_over.ended':
    'All earlier access was removed: password, devices and connections. The account’s content stays.',
  'mail.account_taken_over.ended_passwordless':
    'All earlier access was removed: devices and connections. The account’s content stays.',

  'mail.login_limited.title': 'Too many failed logins',
  'mail.login_limited.in_network':
    'Someone tried many times to log in to your {app} account, and failed. Logins from that network are paused, except in browsers you’ve used before.',
  'mail.login_limited.anywhere':
    'Someone tried many times to log in to your {app} account, and failed. Logins are paused, except in browsers you’ve used before. The details below are from the last attempt.',
  'mail.login_limited.in_known_browser':
    'Someone tried many times to log in to your {app} account in a browser you’ve used before, and failed. Logins from that browser are paused.',
  'mail.login_limited.me': 'If this was you, wait a little or reset your password.',
  'mail.login_limited.me_passwordless': 'If this was you, wait a little.',
  'mail.login_limited.not_me': 'If not, you need a new password only if yours is easy to guess or used elsewhere.',
  'mail.login_limited.not_me_passwordless': 'If not, nothing has happened to your account.',

  'mail.new_browser.title': 'New sign-in to {app}',
  'mail.new_browser.what': 'We noticed a sign-in to your {app} account from a new browser.',
  'mail.new_browser.not_me': 'If not, tell us. This logs out all devices and asks for a new password.',
  'mail.new_browser.not_me_passwordless': 'If not, tell us. This logs out all devices.',

  'mail.it_was_me': 'If this was you, there’s nothing to do.',
  'mail.added.not_me': 'If not, tell us. This removes it, logs out all devices and asks for a new password.',
  'mail.added.not_me_passwordless': 'If not, tell us. This removes it and logs out all devices.',
  'mail.added.button': 'This wasn’t me',
  'mail.changed.not_me': 'If not, reset your password now. This logs out all devices.',
  'mail.changed.not_me_passwordless': 'If not, secure your account now. This logs out all devices.',
  'mail.changed.button': 'Reset password',
  'mail.changed.button_passwordless': 'Secure account',
  'mail.by_operator.own_password': 'Reset it to one that only you know.',
  'mail.by_operator.unexpected': 'If you didn’t expect this, contact support.',
  'mail.by_operator.button': 'View account',
  'mail.copy.why': 'You get a copy because the account had this address until recently.',
  'mail.copy.not_me': 'If you didn’t change your address, use the link in our message about that, or contact support.',

  'mail.keep_link': 'Don’t share this link: it gives access to your account.',
  'mail.link': 'If the button doesn’t work, open this link:',
  'mail.life.seconds_one': 'This link works for one second.',
  'mail.life.seconds_other': 'This link works for {count} seconds.',
  'mail.life.minutes_one': 'This link works for one minute.',
  'mail.life.minutes_other': 'This link works for {count} minutes.',
  'mail.life.hours_one': 'This link works for one hour.',
  'mail.life.hours_other': 'This link works for {count} hours.',
  'mail.life.days_one': 'This link works for one day.',
  'mail.life.days_other': 'This link works for {count} days.',

  'mail.fact.email': 'Email',
  'mail.fact.time': 'Time',
  'mail.fact.by': 'By',
  'mail.fact.operator': 'An administrator',
  'mail.fact.device': 'Device',
  'mail.fact.browser_on_system': '{browser} on {system}',
  'mail.fact.unknown_device': 'Unknown device',
  'mail.fact.address': 'IP address',

  'mail.sent_by': 'Sent by {app} ({host}).',
  'mail.sent_by_host': 'Sent by {host}.',
  'mail.support': 'Contact support:',
} as const

export type MessageTextKey = keyof typeof messageTexts
