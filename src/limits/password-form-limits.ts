import type { LimitedBy } from './limits.ts'

/** The limits of forms in which a signed-in user enters a password: for each try, and for wrong passwords. */
export const passwordFormLimits = (userId: string): LimitedBy[] => [
  ['passwordOfUser', { userId }],
  ['passwordFormOfUser', { userId }],
]
