// Preloaded into the service (NODE_OPTIONS=--import): watches every fdatasync and fsync, counts them, can slow or hold
// them, has them fail, with or without the loss of what they should have saved, and keeps what a disk is sure to hold if the power goes: the database as it was when the last sync that has
// ended began.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'

const folder = process.env.TEST_SYNC_FOLDER ?? ''
const database = process.env.TEST_SYNC_DATABASE ?? ''
const delayMs = Number(process.env.TEST_SYNC_DELAY_MS ?? 0)
const keepsLog = process.env.TEST_SYNC_LOG === 'yes'
const keepsImages = process.env.TEST_SYNC_IMAGES === 'yes'
const faultFile = path.join(folder, 'fault')
const holdFile = path.join(folder, 'hold')
const logFile = path.join(folder, 'log')

let begun = 0
let latestEnded = 0
let syncedLog: Uint8Array = Buffer.alloc(0)

const begin = (): number => {
  begun += 1
  if (keepsImages) {
    const image = path.join(folder, `begun-${begun}`)
    fs.mkdirSync(image)
    for (const file of [database, `${database}-wal`])
      if (fs.existsSync(file)) fs.copyFileSync(file, path.join(image, path.basename(file)))
  }
  fs.appendFileSync(logFile, 'begin\n')
  return begun
}

const end = (number: number) => {
  if (keepsImages && number > latestEnded) {
    fs.renameSync(path.join(folder, `begun-${number}`), path.join(folder, `ended-${number}`))
    latestEnded = number
  }
  fs.appendFileSync(logFile, 'end\n')
}

const whenLet = (next: () => void) => {
  if (fs.existsSync(holdFile)) setTimeout(() => whenLet(next), 5)
  else if (delayMs > 0) setTimeout(next, delayMs)
  else next()
}

/** As a file system does that goes back to what is on disk. SQLite has this file open as well, but locks another one. */
const dropUnsynced = () => {
  const log = `${database}-wal`
  fs.writeFileSync(log, syncedLog, { flag: 'r+' })
  fs.truncateSync(log, syncedLog.length)
}

/** A failure that a sync reports once: the next one succeeds. */
const fault = (): Error | undefined => {
  if (!fs.existsSync(faultFile)) return undefined
  if (fs.readFileSync(faultFile, 'utf8') === 'drop') dropUnsynced()
  fs.rmSync(faultFile)
  return Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO', syscall: 'fdatasync' })
}

const tap = <F extends typeof fs.fdatasync | typeof fs.fsync>(original: F): F =>
  new Proxy(original, {
    apply: (target, self, [fd, done]: [number, (error: Error | null) => void]) => {
      const number = begin()
      const log = keepsLog ? fs.readFileSync(`${database}-wal`) : undefined
      whenLet(() => {
        const failure = fault()
        if (failure) {
          setImmediate(done, failure)
          return
        }
        Reflect.apply(target, self, [
          fd,
          (error: Error | null) => {
            if (error === null) end(number)
            if (error === null && log) syncedLog = log
            done(error)
          },
        ])
      })
    },
  })

const tapSync = <F extends (fd: number) => void>(original: F): F =>
  new Proxy(original, {
    apply: (target, self, args: [number]) => {
      const number = begin()
      Reflect.apply(target, self, args)
      end(number)
    },
  })

Object.assign(fs, {
  fdatasync: tap(fs.fdatasync),
  fsync: tap(fs.fsync),
  fdatasyncSync: tapSync(fs.fdatasyncSync),
  fsyncSync: tapSync(fs.fsyncSync),
})
syncBuiltinESMExports()
