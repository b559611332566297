// The service beside others that npm alone can install: the same work, the same load client, SQLite on disk. Installs
// them below node_modules/.cache at the first run. Linux only.
import { bench, type Run } from './support/bench.ts'
import { type Child, startChild, startServer } from './support/child.ts'
import { sendRequest } from './support/connection.ts'
import { pinTo } from './support/cores.ts'
import { processTreeCpuMs } from './support/cpu-time.ts'
import { type Client, load } from './support/load.ts'
import { installPeers, measureHash, PEERS, type Peer } from './support/peers.ts'
import { findFreePort, timeStart } from './support/start-time.ts'
import { spread } from './support/statistics.ts'
import { constantClient } from './support/users.ts'

const CHECKS = 64
const SIGN_INS = 8
const SIGNED_OUT = 10
const STARTS = 3

/** One service with its figures, round by round. */
interface Side {
  peer: Peer
  server: Child
  checks: Client[]
  signIns: Client[]
  startMs: number
  idleMb: number
  accepted: number
  check: Cost[]
  signIn: Cost[]
}

interface Cost {
  ratePerS: number
  cpuMs: number
}

await bench('Beside others', async (run) => {
  installPeers()
  pinTo('second')
  const sides: Side[] = []
  for (const peer of PEERS) sides.push(await prepare(run, peer))
  const [checkMs, signInMs] = [run.duration(1000), run.duration(2000)]
  for (const { server, checks, signIns } of sides) {
    await measure(server, checks, checkMs * 2)
    await measure(server, signIns, signInMs)
  }
  for (let round = 0; round < run.rounds; round++) {
    const costs = await run.round(async () => {
      const all: [Cost, Cost][] = []
      for (const { server, checks, signIns } of sides) {
        all.push([await measure(server, checks, checkMs), await measure(server, signIns, signInMs)])
      }
      return all
    })
    for (const [at, [check, signIn]] of costs.entries()) {
      sides[at]?.check.push(check)
      sides[at]?.signIn.push(signIn)
    }
  }
  run.note(`${CHECKS} connections with one session each, and ${SIGN_INS} that sign in; one core for each server.`)
  run.note('All on SQLite in WAL mode with `synchronous = FULL` or its equal: each sign-in is on disk when answered.')
  return { rows: [], table: tableOf(sides) }
})

async function prepare(run: Run, peer: Peer): Promise<Side> {
  const cwd = await run.newFolder()
  const options = (port: number) => ({ ...peer.command(port), cwd, cores: 'first' as const })
  const server = run.use(await startServer(options(await findFreePort())))
  const { port } = server
  const idleMb = server.residentMb()
  const users = await peer.signUp(port, CHECKS + SIGN_INS + SIGNED_OUT)
  const accepted = await countAccepted(peer, port, users.splice(CHECKS + SIGN_INS))
  const signIns: Client[] = []
  // Other users than those whose sessions are checked: svc ends the oldest of a user's sessions beyond 100.
  for (const { email } of users.splice(CHECKS)) signIns.push(await peer.signIn(port, email))
  const empty = { ...options(0), cwd: await run.newFolder() }
  const timeOne = () => timeStart((at) => startChild({ ...empty, ...peer.command(at) }), peer.health)
  await timeOne()
  const startsMs: number[] = []
  while (startsMs.length < STARTS) startsMs.push(await run.round(timeOne))
  const checks = users.map((user) => constantClient(peer.check(port, user)))
  const startMs = spread(startsMs).median
  return { peer, server, checks, signIns, startMs, idleMb, accepted, check: [], signIn: [] }
}

/** Number of sessions that are accepted after their users have signed out; throws if they were not accepted before. */
async function countAccepted(peer: Peer, port: number, users: Awaited<ReturnType<Peer['signUp']>>): Promise<number> {
  let accepted = 0
  for (const user of users) {
    // Better Auth answers 200 without a session, too: only the user in the body tells.
    const isAccepted = async (): Promise<boolean> =>
      (await sendRequest(port, peer.check(port, user))).body.includes(user.email)
    if (!(await isAccepted())) throw new Error(`${peer.name} does not accept a session`)
    await sendRequest(port, peer.signOut(port, user))
    if (await isAccepted()) accepted += 1
  }
  return accepted
}

async function measure({ port, pid }: Child, clients: Client[], durationMs: number): Promise<Cost> {
  const before = processTreeCpuMs(pid)
  const { requests, ratePerS } = await load({ port, clients, durationMs })
  return { ratePerS, cpuMs: (processTreeCpuMs(pid) - before) / requests }
}

function round(value: number): string {
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')
}

function median(costs: Cost[], figure: keyof Cost): number {
  return spread(costs.map((cost) => cost[figure])).median
}

function tableOf(sides: Side[]) {
  const line = (what: string, cell: (side: Side) => string): string[] => [what, ...sides.map(cell)]
  return {
    header: ['what', ...sides.map(({ peer }) => peer.name)],
    lines: [
      line('check of a session', ({ check }) => `${round(median(check, 'ratePerS'))} /s`),
      line('processor time of a check', ({ check }) => `${round(median(check, 'cpuMs') * 1000)} µs`),
      line('sign-in', ({ signIn }) => `${round(median(signIn, 'ratePerS'))} /s`),
      line('processor time of a sign-in', ({ signIn }) => `${round(median(signIn, 'cpuMs'))} ms`),
      line('processor time of the hash alone', ({ peer }) => `${round(measureHash(peer))} ms (${peer.hash.name})`),
      line('start', ({ startMs }) => `${round(startMs)} ms`),
      line('resident after the start', ({ idleMb }) => `${round(idleMb)} MB`),
      line('resident after the load', ({ server }) => `${round(server.residentMb())} MB`),
      line(`accepted after sign-out, of ${SIGNED_OUT}`, ({ accepted }) => String(accepted)),
    ],
  }
}
