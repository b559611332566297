// From the spawn of `svc dev` to its first screen, and what its requests for tests take.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { bench } from './support/bench.ts'
import { onCores, pinTo } from './support/cores.ts'
import { limitRow } from './support/report.ts'
import { SVC } from './support/servers.ts'
import { spread } from './support/statistics.ts'

const START_MS = 1000
const RESET_MS = 250
const SIGN_IN_MS = 50
const STARTS_A_ROUND = 3

interface Times {
  startMs: number
  signInMs: number
  resetMs: number
}

const timePost = async (url: string, path: string, body = ''): Promise<number> => {
  const startedMs = performance.now()
  const headers = { 'content-length': Buffer.byteLength(body), ...(body && { 'content-type': 'application/json' }) }
  const outgoing = request(`${url}${path}`, { method: 'POST', headers, agent: false }).end(body)
  const [response] = await once(outgoing, 'response')
  response.resume()
  await once(response, 'end')
  if (response.statusCode >= 300) throw new Error(`${path} answered ${response.statusCode}`)
  return performance.now() - startedMs
}

/** Starts it in a folder of its own, asks it for what tests ask it, and ends it. */
const timeOnce = async (cwd: string): Promise<Times> => {
  const startedMs = performance.now()
  const [file = '', ...args] = onCores('both', [process.execPath, SVC, 'dev', '--json', '--port', '0'])
  const child = spawn(file, args, { cwd, env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  try {
    const [line]: Buffer[] = await once(child.stdout, 'data')
    const startMs = performance.now() - startedMs
    const { url } = JSON.parse(String(line).split('\n')[0] ?? '') as { url: string }
    const ada = '{"email":"ada@example.com"}'
    // The first one loads what it needs.
    await timePost(url, '/auth/dev/sign-in', ada)
    const signInMs = await timePost(url, '/auth/dev/sign-in', ada)
    await timePost(url, '/auth/dev/reset')
    return { startMs, signInMs, resetMs: await timePost(url, '/auth/dev/reset') }
  } finally {
    child.kill('SIGINT')
    await ended
  }
}

await bench('svc dev', async (run) => {
  pinTo('both')
  const folder = await run.newFolder()
  // Warms the compile cache.
  await timeOnce(folder)
  const times: Times[] = []
  for (let round = 0; round < run.rounds * (run.quick ? 1 : STARTS_A_ROUND); round++) {
    times.push(await run.round(() => timeOnce(folder)))
  }
  const row = (title: string, name: keyof Times, atMost: number) =>
    limitRow(title, { unit: 'ms', svc: spread(times.map((each) => each[name])).median, goal: { atMost } })
  run.note('From the spawn until it serves: proxy, mailbox, receiver of webhooks, provider, two users and a key.')
  return [
    row('start', 'startMs', START_MS),
    row('POST /auth/dev/sign-in', 'signInMs', SIGN_IN_MS),
    row('POST /auth/dev/reset', 'resetMs', RESET_MS),
  ]
})
