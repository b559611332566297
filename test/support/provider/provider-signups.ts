import { currentUser } from '../client/accounts.ts'
import { assertRedirect } from '../client/assertions.ts'
import { createUserAgent } from '../client/user-agent.ts'
import { openDatabase } from '../database/database.ts'
import { startWebhookReceiver } from '../network/webhook-receiver.ts'
import type { Environment } from '../service/command.ts'
import type { Service } from '../service/service.ts'
import { startGitHubServer } from './github-server.ts'
import { startMisbehavingProvider } from './misbehaving-provider.ts'
import { startOpenIdProvider } from './openid-provider.ts'
import { newOpenIdUser, type OpenIdUser } from './openid-provider-users.ts'
import { PATIENT, startServiceWith } from './provider-service.ts'
import { signInBy } from './provider-sign-in.ts'

/** Starts a service with providers of every kind, and receives the events of the accounts that users get by them. */
export const startSignupService = async () => {
  const webhooks = await startWebhookReceiver()
  const corp = await startOpenIdProvider()
  const github = await startGitHubServer()
  const google = await startMisbehavingProvider({ profile: 'google' })
  // Sends exactly the given claims, without any about verification.
  const lab = await startMisbehavingProvider()
  // The same providers under other names: a user who is known by one name is known by all.
  const providers = { corp, github, google, lab, staff: corp, trusted: lab, guests: lab }
  const settings: Environment = {
    ...PATIENT,
    SVC_WEBHOOK_URL: webhooks.url,
    SVC_WEBHOOK_SECRET: 'a secret of 16 bytes or more',
    SVC_OAUTH_GOOGLE_ALLOWED_DOMAINS: 'org.example',
    SVC_OAUTH_STAFF_ALLOWED_DOMAINS: 'Staff.Example, staff2.example',
    SVC_OAUTH_TRUSTED_TRUST_EMAIL: 'on',
    SVC_OAUTH_GUESTS_ALLOWED_DOMAINS: 'org.example',
  }
  const service = await startServiceWith(providers, { env: settings })
  const database = await openDatabase(service)

  const newAgent = (where: Service = service) => createUserAgent(where)
  const byCorp =
    (person: OpenIdUser = newOpenIdUser()) =>
    (url: string) =>
      corp.visit(url, { person })

  /** A person of corp signs in with a new browser. */
  const signInByCorp = async (person: OpenIdUser = newOpenIdUser(), name = 'corp') => {
    const agent = newAgent()
    return { agent, person, answer: await signInBy(agent, name, byCorp(person)) }
  }

  /** The same, with a session. */
  const userOfCorp = async (person?: OpenIdUser) => {
    const { answer, ...rest } = await signInByCorp(person)
    assertRedirect(answer, '/')
    return { ...rest, user: await currentUser(rest.agent) }
  }

  const eventsOf = (userId: string) =>
    webhooks.deliveries.filter(({ event }) => event.data.user_id === userId).map(({ event }) => event.type)

  /** What the `user.updated` events of a user name, in their order. */
  const updatesOf = (userId: string) =>
    webhooks.deliveries.flatMap(({ event: { type, data } }) =>
      type === 'user.updated' && data.user_id === userId ? [data.changed] : [],
    )

  /** Resolves when all earlier events have arrived: it waits for an event about a later user. */
  const receiveEvents = async () => {
    const { user } = await userOfCorp()
    await webhooks.receivedEvent(({ event }) => event.data.user_id === user.id)
  }

  /** How many accounts have this email. */
  const countAccounts = async (email: string) =>
    (await database.rows('SELECT id FROM users WHERE email_lower = ?', email.toLowerCase())).length

  return {
    github,
    lab,
    providers,
    settings,
    service,
    database,
    newAgent,
    byCorp,
    signInByCorp,
    userOfCorp,
    eventsOf,
    updatesOf,
    receiveEvents,
    countAccounts,
  }
}
