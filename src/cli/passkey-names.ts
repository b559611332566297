import { safeText } from './terminal/safe-text.ts'
import type { Core } from './with-core.ts'

/** What users have called their passkeys; nothing where there are no passkeys (`SVC_PASSKEYS`). */
export const passkeyNamesOf = async ({ passkeys }: Core, userId: string): Promise<string[]> =>
  passkeys.isOn ? (await passkeys.list(userId)).map(({ name }) => safeText(name)) : []
