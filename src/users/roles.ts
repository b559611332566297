import { AppError } from '../lib/errors.ts'

const ROLE = /^[a-z0-9_:.-]{1,64}$/

/** Checks role names: each 1 to 64 of `a-z 0-9 _ : . -`; duplicates are dropped. */
export const requireRoles = (names: string[]): string[] => {
  for (const name of names) {
    if (ROLE.test(name)) continue
    throw new AppError('unprocessable', `"${name}" is no role: 1 to 64 of the characters a-z, 0-9, _ : . and -.`, {
      field: 'roles',
    })
  }
  return [...new Set(names)]
}
