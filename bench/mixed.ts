// GET /user while sessions are refreshed in the same process, and while another process writes to the database.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { bench } from './support/bench.ts'
import { sendRequest } from './support/connection.ts'
import { pinTo } from './support/cores.ts'
import { load } from './support/load.ts'
import { pace } from './support/pace.ts'
import { limitRow, ratioRow } from './support/report.ts'
import { createTarget, measureInTurn, rates, type Target } from './support/rounds.ts'
import { DATABASE, startConstant, startService, startWriter } from './support/servers.ts'
import { getUser, postForm, refreshClient, type SignedInUser, signUpUsers, userClient } from './support/users.ts'

const CLIENTS = 64
const REFRESHES_PER_S = 300
const COMMITS_PER_S = 50
const REVOCATIONS = 100

await bench('GET /user while others write', async (run) => {
  pinTo('second')
  const folder = await run.newFolder()
  const service = run.use(await startService({ folder, cores: 'first' }))
  const { port } = service
  const readers = await signUpUsers(port, CLIENTS, 'reader')
  const refreshers = (await signUpUsers(port, 32, 'refresher')).map(refreshClient)
  const revoked = await signUpUsers(port, run.quick ? 10 : REVOCATIONS, 'revoked')
  const request = getUser(readers[0].cookies)
  const http = run.use(await startConstant({ like: service, request, cores: 'first' }))
  const database = join(folder, DATABASE)
  const writer = run.use(startWriter(database, 'second'))

  const refresh = (durationMs: number): Promise<unknown> =>
    pace({ port, clients: refreshers, ratePerS: REFRESHES_PER_S, durationMs })
  const write = (durationMs: number): Promise<unknown> => writer.request({ commitsPerS: COMMITS_PER_S, durationMs })
  const clients = readers.map(userClient)
  const bare = createTarget(http, clients)
  const alone = createTarget(service, clients)
  const refreshing = createTarget(service, clients, refresh)
  const writing = createTarget(service, clients, write)
  const durationMs = run.duration(2000)
  // At 300 a second, V8 would still compile the code of a refresh while it is measured.
  await load({ port, clients: refreshers, durationMs })
  await measureInTurn(run, durationMs, [bare, alone, refreshing, writing])

  const both = Promise.all([refresh(durationMs), write(durationMs)])
  const accepted = await countAccepted(port, database, revoked)
  await both
  run.note('Server on one core; load client and the other process on the other.')
  const figures = (target: Target) => ({ unit: '/s', svc: rates(target), baseline: rates(bare) })
  const [besideRefreshes, besideCommits] = [{ atLeast: 0.65 }, { atLeast: 0.6 }]
  return [
    ratioRow('no other load', figures(alone)),
    ratioRow(`${REFRESHES_PER_S} refreshes a second`, { ...figures(refreshing), goal: besideRefreshes }),
    ratioRow(`another process commits ${COMMITS_PER_S} times a second`, { ...figures(writing), goal: besideCommits }),
    limitRow(`accepted after revocation, of ${revoked.length}`, { unit: '', svc: accepted, goal: { atMost: 0 } }),
  ]
})

/**
 * Number of sessions that are accepted after half of them have logged out and another process has deleted the other
 * half.
 */
async function countAccepted(port: number, database: string, users: SignedInUser[]): Promise<number> {
  using connection = new DatabaseSync(database)
  connection.exec('PRAGMA busy_timeout = 1000')
  const remove = connection.prepare('DELETE FROM sessions WHERE id = ?')
  let accepted = 0
  for (const [at, user] of users.entries()) {
    const request = getUser(user.cookies)
    if ((await sendRequest(port, request)).status !== 200) throw new Error('a session was gone before it was revoked')
    if (at % 2 === 0) await logOut(port, user)
    else if (remove.run(sessionId(user)).changes !== 1) throw new Error('a session was not there to be deleted')
    if ((await sendRequest(port, request)).status !== 401) accepted += 1
  }
  return accepted
}

async function logOut(port: number, { cookies }: SignedInUser): Promise<void> {
  const { status } = await sendRequest(port, postForm('/auth/logout', cookies, {}))
  if (status !== 303) throw new Error(`logout answered ${status}`)
}

/** A refresh token begins with the id of its session. */
function sessionId({ cookies }: SignedInUser): string {
  return cookies.get('svc_refresh')?.split('.')[0] ?? ''
}
