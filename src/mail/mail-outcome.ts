/** What became of a message: `retried` failed, and there will be another attempt; `dropped` had none. */
export const MAIL_OUTCOMES = ['sent', 'retried', 'failed', 'dropped'] as const
export type MailOutcome = (typeof MAIL_OUTCOMES)[number]
