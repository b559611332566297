import assert from 'node:assert/strict'
import { currentUser } from '../client/accounts.ts'
import { assertRedirect } from '../client/assertions.ts'
import { createUserAgent, type Form, type UserAgent } from '../client/user-agent.ts'
import { openDatabase } from '../database/database.ts'
import { type GitHubPerson, newGitHubPerson, startGitHubServer } from './github-server.ts'
import { startMisbehavingProvider } from './misbehaving-provider.ts'
import { startOpenIdProvider } from './openid-provider.ts'
import { newOpenIdUser, type OpenIdUser } from './openid-provider-users.ts'
import { assertNoSession, PATIENT, pendingOn, startServiceWith } from './provider-service.ts'
import { signInBy } from './provider-sign-in.ts'

type Identity = { id: string; provider: string; email: string }

/** A person at GitHub with this verified email. */
export const githubPersonWith = (email: string): GitHubPerson =>
  newGitHubPerson({ emails: [{ email, primary: true, verified: true, visibility: null }] })

/** Sends the password form of the "link account" page. */
export const linkByPassword = (agent: UserAgent, pending: string, password: string, name = 'corp') =>
  agent.post(`/auth/oauth/${name}/link`, { pending, password })

/** Sends the form of the "link account" page that takes the account over from an attacker. */
export const reclaim = (agent: UserAgent, pending: string, name = 'corp') =>
  agent.post(`/auth/oauth/${name}/claim`, { pending })

/**
 * Starts a service with three providers: corp and github, and lab, which sends given claims. Returns them with the
 * common steps of tests about connected accounts.
 */
export const startLinkingService = async () => {
  const corp = await startOpenIdProvider()
  const github = await startGitHubServer()
  const lab = await startMisbehavingProvider()
  const providers = { corp, github, lab }
  const service = await startServiceWith(providers, { env: PATIENT })
  const database = await openDatabase(service)

  const newAgent = () => createUserAgent(service)
  const byCorp = (person: OpenIdUser) => (url: string) => corp.visit(url, { person })
  const byGithub = (person: GitHubPerson) => (url: string) => github.visit(url, { person })

  /** A user with an account that only corp is connected to. */
  const userOfCorp = async (person: OpenIdUser = newOpenIdUser()) => {
    const agent = newAgent()
    assertRedirect(await signInBy(agent, 'corp', byCorp(person)), '/')
    return { agent, person, user: await currentUser(agent) }
  }

  const linkGithub = (agent: UserAgent, person: GitHubPerson = newGitHubPerson()) =>
    signInBy(agent, 'github', byGithub(person), { intent: 'link' })

  /** A user with an account that both corp and GitHub are connected to. */
  const userOfBoth = async () => {
    const octo = newGitHubPerson()
    const { agent, person, user } = await userOfCorp()
    assertRedirect(await linkGithub(agent, octo), '/auth/account?done=linked')
    return { agent, person, user, octo }
  }

  /** A new user of corp on the "link account" page, because an account has the same email. */
  const atLinkAccountPage = async (
    email: string,
    form: Form = { return_to: '/kept' },
    person = newOpenIdUser({ email }),
  ) => {
    const agent = newAgent()
    const page = await signInBy(agent, 'corp', byCorp(person), form)
    assertNoSession(agent, page, 409)
    return { agent, person, page, pending: pendingOn(page) }
  }

  const identitiesOf = async (userId: string): Promise<Identity[]> => {
    const rows = await database.rows('SELECT id, provider, email FROM identities WHERE user_id = ? ORDER BY id', userId)
    return rows.map(({ id, provider, email }) => ({ id: String(id), provider: String(provider), email: String(email) }))
  }

  /** The names of the connected providers, in the order in which they were connected. */
  const providersOf = async (userId: string) => (await identitiesOf(userId)).map(({ provider }) => provider)

  /** Makes every session of a user that many minutes older. */
  const ageSessions = (userId: string, minutes: number) =>
    database.rows(
      'UPDATE sessions SET authenticated_at = authenticated_at - ? WHERE user_id = ?',
      minutes * 60_000,
      userId,
    )

  const assertSignsIn = async (name: 'corp' | 'github', person: OpenIdUser | GitHubPerson, userId: string) => {
    const agent = newAgent()
    const visit = 'user' in person ? byGithub(person) : byCorp(person)
    assertRedirect(await signInBy(agent, name, visit), '/')
    assert.equal((await currentUser(agent)).id, userId)
  }

  return {
    corp,
    github,
    lab,
    providers,
    service,
    database,
    newAgent,
    byCorp,
    byGithub,
    userOfCorp,
    linkGithub,
    userOfBoth,
    atLinkAccountPage,
    identitiesOf,
    providersOf,
    ageSessions,
    assertSignsIn,
  }
}
