/** Applications are told of these changes of a user (CONTRACT.md 6.1). */
export const USER_CHANGES = ['email', 'username', 'name', 'language', 'roles', 'disabled', 'email_verified'] as const
export type UserChange = (typeof USER_CHANGES)[number]
