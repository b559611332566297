// Preloaded into the service (NODE_OPTIONS=--import): watches every fdatasync and fsync, counts them, can slow or hold
// them, and keeps what a disk is sure to hold if the power goes: the database as it was when the last sync that has
// ended began.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'

const folder = process.env.TEST_SYNC_FOLDER ?? ''
const database = process.env.TEST_SYNC_DATABASE ?? ''
const delayMs = Number(process.env.TEST_SYNC_DELAY_MS ?? 0)
const keepsImages = process.env.TEST_SYNC_IMAGES === 'yes'
const holdFile = path.join(folder, 'hold')
const logFile = path.join(folder, 'log')

let begun = 0
let latestEnded = 0

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

const tap = <F extends typeof fs.fdatasync | typeof fs.fsync>(original: F): F =>
  new Proxy(original, {
    apply: (target, self, [fd, done]: [number, (error: Error | null) => void]) => {
      const number = begin()
      whenLet(() => {
        Reflect.apply(target, self, [
          fd,
          (error: Error | null) => {
            if (error === null) end(number)
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
