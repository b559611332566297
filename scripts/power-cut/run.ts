/**
 * Simulates power cuts of a service under load, and checks that no acknowledged write is lost.
 * Needs Linux and a C compiler: `npm run power-cut -- [ROUNDS]`.
 *
 * After each cut, the files contain the worst that a disk may hold: all synced pages, and a random half of the pages
 * that were written since. Prints the acknowledged writes that were lost; exits with 1 if there are any.
 */
import { execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type AcknowledgedUser, findLosses, signUpAndRefresh } from './users.ts'

const PAGE = 4096
const SERVICE = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
const FILES = ['svc.db', 'svc.db-wal', 'svc.secret']
const USERS_AT_ONCE = 8

const root = mkdtempSync(join(tmpdir(), 'svc-power-cut-'))
const disk = join(root, 'disk.so')
execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', disk, fileURLToPath(new URL('disk.c', import.meta.url)), '-ldl'])

const start = async (folder: string, image: string | undefined) => {
  const child = spawn(process.execPath, [SERVICE, 'serve'], {
    cwd: root,
    env: {
      SVC_PORT: '0',
      SVC_RATE_LIMIT: 'off',
      SVC_REFRESH_GRACE: '1ms',
      SVC_DATABASE_URL: `sqlite:${join(folder, 'svc.db')}`,
      ...(image && { LD_PRELOAD: disk, DATA_DIR: folder, IMAGE_DIR: image }),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    log += String(chunk)
    const [, url] = /"listen":"([^"]+)"/.exec(log) ?? []
    if (url) {
      child.stderr.resume()
      return { child, url }
    }
  }
  throw new Error(`the service did not start: ${log}`)
}

/** Writes the synced files, with a random half of the pages that were written since. */
const writeWorstCase = (image: string, actual: string, target: string): void => {
  for (const name of FILES) {
    const synced = existsSync(join(image, name)) ? readFileSync(join(image, name)) : Buffer.alloc(0)
    const written = existsSync(join(actual, name)) ? readFileSync(join(actual, name)) : Buffer.alloc(0)
    const size = randomInt(2) === 0 ? synced.length : Math.max(synced.length, written.length)
    const bytes = Buffer.alloc(size)
    synced.copy(bytes)
    for (let at = 0; at < size; at += PAGE) if (randomInt(2) === 0) written.copy(bytes, at, at, at + PAGE)
    writeFileSync(join(target, name), bytes)
  }
}

const round = async (number: number) => {
  const [actual, image, target] = ['actual', 'image', 'target'].map((name) => join(root, `${number}-${name}`))
  if (!actual || !image || !target) throw new Error('no folder')
  for (const folder of [actual, image, target]) mkdirSync(folder)
  const acknowledged: AcknowledgedUser[] = []
  const { child, url } = await start(actual, image)
  const loads = Array.from({ length: USERS_AT_ONCE }, (_, index) => signUpAndRefresh(url, `v${index}`, acknowledged))
  await sleep(randomInt(300, 3000))
  child.kill('SIGKILL')
  const refreshes = (await Promise.all(loads)).reduce((sum, count) => sum + count, 0)
  cpSync(join(actual, 'svc.secret'), join(image, 'svc.secret'))
  writeWorstCase(image, actual, target)
  const again = await start(target, undefined)
  const losses = await findLosses(again.url, acknowledged)
  again.child.kill('SIGKILL')
  for (const folder of [actual, image, target]) rmSync(folder, { recursive: true })
  return { users: acknowledged.length, refreshes, losses }
}

const rounds = Number(process.argv[2] ?? 20)
let users = 0
let refreshes = 0
const losses: string[] = []
for (let number = 1; number <= rounds; number += 1) {
  const result = await round(number)
  users += result.users
  refreshes += result.refreshes
  losses.push(...result.losses)
  process.stdout.write(
    `cut ${number}: ${result.users} users, ${result.refreshes} refreshes, ${result.losses.length} lost\n`,
  )
}
rmSync(root, { recursive: true })
process.stdout.write(`${rounds} cuts: ${users} users and ${refreshes} refreshes acknowledged, ${losses.length} lost\n`)
for (const loss of losses.slice(0, 20)) process.stdout.write(`  ${loss}\n`)
process.exitCode = losses.length > 0 ? 1 : 0
