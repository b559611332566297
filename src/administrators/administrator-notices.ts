import type { RecordEvent, TallyEvent } from '../audit/audit-event.ts'
import type { Caller } from '../lib/caller.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import { knownDevice } from '../lib/device.ts'
import type { Clock } from '../lib/time.ts'
import type { Mail } from '../mail/mail.ts'
import type { AdministrationEvent } from '../mail/message.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { Administrator } from './administrator.ts'

export interface AdministratorsDeps {
  db: Database
  clock: Clock
  rootSecret: RootSecret
  mail: Pick<Mail, 'write'>
  recordEvent: RecordEvent
  tallyEvent: TallyEvent
  /** The origin of the pages; undefined while there are none. */
  adminUrl: string | undefined
  appName: string
}

/** Tells an administrator by mail what happened to their access. Without a caller, an operator did it by command. */
export type NotifyAdministrator = (
  transaction: Transaction,
  administrator: Administrator,
  event: AdministrationEvent,
  caller?: Caller,
) => Promise<void>

/** svc tries for this long to send a notice. */
const LIFETIME_MS = 24 * 3_600_000

export const createNotifyAdministrator =
  ({ clock, mail, adminUrl = 'https://unset.invalid' }: AdministratorsDeps): NotifyAdministrator =>
  async (transaction, { name: administrator, email: to }, event, caller) => {
    const occurredAtMs = clock.now()
    const device = caller?.device
    const about = {
      email: to,
      occurredAtMs,
      ...(device && { device: knownDevice(device.userAgent), address: device.address }),
    }
    const place = new URL(adminUrl).host
    const message = { ...about, kind: 'administration', event, administrator, place } as const
    await mail.write(transaction, { to, userId: undefined, message, expiresAtMs: occurredAtMs + LIFETIME_MS })
  }
