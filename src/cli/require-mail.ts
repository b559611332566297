import type { Core } from './with-core.ts'

/** For `--mail`: throws `invalid_request` while mail is off, before a command changes anything. */
export const requireMail = async ({ mail }: Core): Promise<void> => {
  if (mail.isOn) return
  const { AppError } = await import('../lib/errors.ts')
  throw new AppError('invalid_request', 'mail is off: set SVC_SMTP_URL, or leave out --mail to have the link printed')
}
