import { AppError } from '../lib/errors.ts'

// Roles are part of the access token, and a browser drops a cookie of more than 4,096 bytes (RFC 6265bis section 5.6).
const MAX_TOGETHER = 2048
const ROLE = /^[a-z0-9_:.-]{1,64}$/

/** Checks role names: each 1 to 64 of `a-z 0-9 _ : . -`; duplicates are dropped. */
export const requireRoles = (names: string[]): string[] => {
  for (const name of names) {
    if (ROLE.test(name)) continue
    throw new AppError('unprocessable', `"${name}" is no role: 1 to 64 of the characters a-z, 0-9, _ : . and -.`, {
      field: 'roles',
    })
  }
  const roles = [...new Set(names)]
  if (JSON.stringify(roles).length <= MAX_TOGETHER) return roles
  throw new AppError(
    'unprocessable',
    `These are too many roles: as JSON they have at most ${MAX_TOGETHER} characters.`,
    {
      field: 'roles',
    },
  )
}
