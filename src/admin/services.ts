import type { ShownSetting } from '../config/shown-settings.ts'
import type { Core } from '../core.ts'
import type { AccountEventName, AccountFacts } from '../lib/account-event.ts'
import type { AdminContext } from './http/context.ts'
import type { AdminSite } from './site/site.ts'

/** What is looked at in an installation, and what is wrong with it (`svc doctor`). */
export interface Findings {
  atMs: number
  list: readonly { code: string; message: string; cure: string }[]
}

/** The handlers are made from these, each with a `Pick` of them. */
export interface AdminServices extends Core {
  site: AdminSite
  /** An operator on this machine may see what the command line prints. */
  door: 'machine' | 'origin'
  hasClients: boolean
  /** Users verify their email addresses. */
  verifiesEmails: boolean
  version: string
  settings: readonly ShownSetting[]
  /** Looks at the installation as `svc doctor` does. */
  examine: () => Promise<Findings['list']>
  /** Writes the line of the log that a command writes too. */
  logEvent: (context: AdminContext, event: AccountEventName, facts: AccountFacts) => void
}
