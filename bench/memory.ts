// Resident memory, idle and under load, against bare node:http.
import { setTimeout as wait } from 'node:timers/promises'
import { bench } from './support/bench.ts'
import type { Child } from './support/child.ts'
import { pinTo } from './support/cores.ts'
import { type Client, load } from './support/load.ts'
import { limitRow } from './support/report.ts'
import { startConstant, startService } from './support/servers.ts'
import { fetchCsrfCookie, getUser, loginClient, refreshClient, signUpUsers, userClient } from './support/users.ts'

const CLIENTS = 64
const IDLE_MB = 80
const LOADED_MB = 140

await bench('Memory', async (run) => {
  pinTo('both')
  const folder = await run.newFolder()
  const started = await startService({ folder, cores: 'both' })
  const users = await signUpUsers(started.port, CLIENTS)
  await started.stop()

  const service = run.use(await startService({ folder, cores: 'both' }))
  const request = getUser(users[0].cookies)
  const http = run.use(await startConstant({ like: service, request, cores: 'both' }))
  await wait(run.duration(3000))
  const idleMb = [http, service].map((server) => server.residentMb())

  const csrfCookie = await fetchCsrfCookie(service.port)
  const reads = users.map(userClient)
  const others = [...users.map(refreshClient), ...users.map(({ email }) => loginClient(email, csrfCookie))]
  const durationMs = run.duration(20_000)
  const bareMb = await run.once(() => greatestResident(http, reads, durationMs / 2))
  const loadedMb = await run.once(() => greatestResident(service, [...reads, ...others], durationMs))
  run.note(`Under load: ${CLIENTS} clients each read, refresh and log in at the same time, for ${durationMs / 1000} s.`)
  return [
    limitRow('idle', { unit: 'MB', baseline: idleMb[0], svc: idleMb[1], goal: { atMost: IDLE_MB } }),
    limitRow('under load, maximum', { unit: 'MB', baseline: bareMb, svc: loadedMb, goal: { atMost: LOADED_MB } }),
  ]
})

async function greatestResident(server: Child, clients: Client[], durationMs: number): Promise<number> {
  let greatest = 0
  const sample = (): void => {
    greatest = Math.max(greatest, server.residentMb())
  }
  const sampler = setInterval(sample, 50)
  await load({ port: server.port, clients, durationMs }).finally(() => clearInterval(sampler))
  return greatest
}
