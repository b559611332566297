import type { Inspection } from '../config/shown-settings.ts'
import type { Core } from '../core.ts'
import type { AccountEventName, AccountFacts } from '../lib/account-event.ts'
import type { AdminContext } from './http/context.ts'
import type { AdminSite } from './site/site.ts'

/** The handlers are made from these, each with a `Pick` of them. */
export interface AdminServices extends Core {
  site: AdminSite
  /** An operator on this machine may see what the command line prints. */
  door: 'machine' | 'origin'
  hasClients: boolean
  /** Users verify their email addresses. */
  verifiesEmails: boolean
  version: string
  inspection: Inspection
  /** Writes the line of the log that a command writes too. */
  logEvent: (context: AdminContext, event: AccountEventName, facts: AccountFacts) => void
}
