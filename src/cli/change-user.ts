import type { AccountEventName } from '../lib/account-event.ts'
import type { User } from '../accounts/accounts.ts'
import type { CommandContext } from './command-context.ts'
import { print, printJson, printNotice } from './terminal/output.ts'
import { userToJson } from './user-output.ts'
import { type Core, requireUser, withCore } from './with-core.ts'

interface UserChange {
  command: string
  event: AccountEventName
  json: boolean | undefined
  apply: (core: Core, user: User) => Promise<void>
  /** The line that is printed about the changed user. */
  result: (user: User) => string
  /** A warning about the changed user, if there is one. */
  warning?: (user: User) => string | undefined
}

/** Changes one user, logs the account event, and prints the user. */
export const changeUser = (
  { loadConfig }: CommandContext,
  name: string,
  { command, event, json, apply, result, warning }: UserChange,
): Promise<void> =>
  withCore(loadConfig(), async (core, logEvent) => {
    const before = await requireUser(core, name)
    await apply(core, before)
    logEvent(command, event, { userId: before.id })
    const user = await requireUser(core, before.id)
    await (json ? printJson(userToJson(user)) : print(`${result(user)}\n`))
    const text = warning?.(user)
    if (text) printNotice(text)
  })
