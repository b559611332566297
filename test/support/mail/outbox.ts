import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Core } from '../../../src/core.ts'
import type { Message } from '../../../src/mail/message.ts'
import { type OpenDatabase, openDatabase } from '../database/database.ts'
import type { SmtpServer } from '../network/smtp-server.ts'
import type { Environment } from '../service/command.ts'
import { openOperator } from '../service/replicas.ts'
import type { Service } from '../service/service.ts'
import { eventually } from '../wait.ts'
import { MAIL_BASE_URL, MESSAGES } from '../../../src/preview/messages.ts'

const DAY_MS = 24 * 3_600_000

/** The settings of a service that sends the messages of these tests to a server. */
export const mailEnv = ({ env }: Pick<SmtpServer, 'env'>): Environment => ({ ...env, SVC_BASE_URL: MAIL_BASE_URL })

type Written = { userId?: string; linkId?: string; expiresAtMs?: number; message?: Message }

/** The outbox of a service, as another process on the same installation uses it. */
export type Outbox = {
  core: Core
  database: OpenDatabase
  /** Writes a message to a new address; resolves to the address. */
  write(options?: Written): Promise<string>
  /** Rows of messages, the oldest first. */
  rows(): Promise<Record<string, unknown>[]>
  /** Resolves once every message has one of these states. */
  settled(...states: string[]): Promise<void>
}

export const sample = (name: string): Message => {
  const message = MESSAGES.get(name)
  if (!message) throw new Error(`there is no sample ${name}`)
  return message
}

/** The ids of two messages are in the order of their milliseconds only. */
const nextMillisecond = async (): Promise<void> => {
  const thisMs = Date.now()
  while (Date.now() === thisMs) await sleep(1)
}

export const openOutbox = async (service: Service, t?: TestContext): Promise<Outbox> => {
  const core = await openOperator(service, t)
  const database = await openDatabase(service, t)
  const rows = () => database.rows('SELECT * FROM mail_messages ORDER BY id')
  return {
    core,
    database,
    rows,
    write: async ({ userId, linkId, message = sample('password_changed'), expiresAtMs = Date.now() + DAY_MS } = {}) => {
      const to = `ada-${randomUUID().slice(0, 8)}@example.com`
      const outgoing = { to, userId, message, expiresAtMs, linkId }
      await core.db.inTransaction((transaction) => core.mail.write(transaction, outgoing))
      await nextMillisecond()
      return to
    },
    settled: (...states) =>
      eventually(`all messages are ${states.join(' or ')}`, async () => {
        const found = await rows()
        return found.length > 0 && found.every(({ state }) => states.includes(String(state)))
      }),
  }
}
