import { createHash } from 'node:crypto'
import { AppError } from '../lib/errors.ts'

/** `look` sees everything, and changes and exports nothing. The first may less than the second. */
export const ADMINISTRATOR_ROLES = ['look', 'change'] as const

/** The role of an administrator. It has nothing to do with the roles of users. */
export type AdministratorRole = (typeof ADMINISTRATOR_ROLES)[number]

/** An administrator is not a user: passkeys of the origin of the administration alone let them in. */
export interface Administrator {
  id: string
  /** Records name the administrator by it. */
  name: string
  /** Notices go there. */
  email: string
  role: AdministratorRole
  createdAtMs: number
}

/** This is known of an administrator who is in. */
export interface AdministratorSession {
  id: string
  administrator: Administrator
  /** True: no passkey was shown in the last ten minutes. A change needs one. */
  mustProve: boolean
}

const MAX_NAME_LENGTH = 64

/** Reads a name. It is part of records, logs and commands. Throws `unprocessable`. */
export const requireAdministratorName = (text: string): string => {
  if (/^[a-z0-9][a-z0-9._-]*$/.test(text) && text.length <= MAX_NAME_LENGTH) return text
  const message = `The name of an administrator has 1 to ${MAX_NAME_LENGTH} of the characters a-z 0-9 . _ -, and begins with a letter or a digit.`
  throw new AppError('unprocessable', message, { field: 'name' })
}

/** A secret of 256 random bits needs no slow hash. */
export const administratorSecretHash = (secret: string): string =>
  createHash('sha256').update(secret).digest('base64url')

export const noSuchAdministrator = (name: string): AppError =>
  new AppError('not_found', `There is no administrator ${JSON.stringify(name)}.`, { field: 'name' })

/** The link is over: it was used, it is too old, or there is a newer one. */
export const administratorLinkOver = (): AppError =>
  new AppError('gone', 'This link is no longer good. An operator makes another one by `svc admins reset NAME`.', {
    reason: 'invite_over',
  })

/** The session ended while its page was open. */
export const administratorSessionOver = (): AppError =>
  new AppError('unauthorized', 'You are not signed in any more.', { reason: 'signed_out' })
