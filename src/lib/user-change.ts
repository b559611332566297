/** The changes of a user that applications are told of (CONTRACT.md 6.1). */
export const USER_CHANGES = ['email', 'username', 'roles', 'disabled', 'email_verified'] as const
export type UserChange = (typeof USER_CHANGES)[number]
