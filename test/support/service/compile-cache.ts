import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createTestUsers, sendAllRequests } from '../client/typical-requests.ts'
import { somePort } from '../network/free-port.ts'
import { HASHES_AT_NO_COST, spawnSvc } from './command.ts'

/** What the pages of a visitor and of a user load. */
const PAGES = [
  '/auth/signup',
  '/auth/login',
  '/auth/logout',
  '/auth/account/devices',
  '/auth/session.js',
  '/auth/ready',
]

/** Has a service that serves load what most tests ask for. */
const askForMuch = async (service: { url: string }): Promise<void> => {
  const users = await createTestUsers(service)
  await sendAllRequests(service, users)
  for (const page of PAGES) await users.stayer.get(page)
}

/**
 * Starts svc once, asks it for what most tests ask for, and stops it in order, so that it stores the compiled code of
 * all this. The services of most tests are killed, and each would compile again what a request loads.
 */
export const fillCompileCache = async (): Promise<void> => {
  const cwd = mkdtempSync(path.join(tmpdir(), 'svc-test-'))
  try {
    const port = somePort()
    const env = { SVC_PORT: port, SVC_RATE_LIMIT: 'off', NODE_OPTIONS: HASHES_AT_NO_COST }
    const svc = spawnSvc({ args: ['serve'], cwd, env })
    const closed = once(svc, 'close')
    const serves = new Promise<boolean>((resolve) => {
      svc.stderr.on('data', (text: string) => {
        if (text.includes('svc is serving')) resolve(true)
      })
      void closed.then(() => resolve(false))
    })
    svc.stdout.resume()
    // Without it the tests are slower. What is wrong with svc is for them to say.
    if (await serves) await askForMuch({ url: `http://localhost:${port}` }).catch(() => {})
    svc.kill('SIGTERM')
    await closed
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}
