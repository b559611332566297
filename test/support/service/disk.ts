import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryDirectory } from '../temporary-directory.ts'

/** Watches the syncs of a service. */
export type Disk = {
  /** The environment in which a service in `directory` is watched. */
  env: Record<string, string>
  directory: string
  /** Syncs begun and ended so far. */
  syncs(): { begun: number; ended: number }
  /** Holds all syncs from now on, until they are released. */
  hold(): void
  letGo(): void
  /** The next sync to end fails. With `drop` (and the option `log`), the log is as the last sync left it, as on some file systems. */
  failOnce(how?: 'drop'): void
  /** Resolves once that many syncs have begun. */
  begun(count: number): Promise<void>
  /** Creates a folder with the data that survive a power cut: the image of the last completed sync. */
  afterPowerCut(): string
}

/** Watches the syncs of one service. With `images` it keeps the data of each sync; each sync takes `delayMs` more. */
export const watchDisk = ({
  t,
  delayMs = 0,
  images = false,
  log: keepsLog = false,
}: {
  t: TestContext
  delayMs?: number
  images?: boolean
  log?: boolean
}): Disk => {
  const directory = temporaryDirectory(t)
  const folder = temporaryDirectory(t)
  const holdFile = path.join(folder, 'hold')
  const syncs = () => {
    const log = path.join(folder, 'log')
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []
    const count = (what: string) => lines.filter((line) => line === what).length
    return { begun: count('begin'), ended: count('end') }
  }
  return {
    env: {
      NODE_OPTIONS: `--import=${new URL('./sync-tap.ts', import.meta.url).href}`,
      TEST_SYNC_FOLDER: folder,
      TEST_SYNC_DATABASE: path.join(directory, 'data', 'svc.db'),
      TEST_SYNC_DELAY_MS: String(delayMs),
      TEST_SYNC_LOG: keepsLog ? 'yes' : 'no',
      TEST_SYNC_IMAGES: images ? 'yes' : 'no',
    },
    directory,
    syncs,
    hold: () => writeFileSync(holdFile, ''),
    failOnce: (how) => writeFileSync(path.join(folder, 'fault'), how ?? ''),
    letGo: () => rmSync(holdFile, { force: true }),
    begun: async (count) => {
      for (let tries = 0; syncs().begun < count; tries++) {
        if (tries > 2000) throw new Error(`${count} syncs were expected to begin, ${syncs().begun} have`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    afterPowerCut: () => {
      const numbers = readdirSync(folder).flatMap((name) => (name.startsWith('ended-') ? [Number(name.slice(6))] : []))
      const image = path.join(folder, `ended-${Math.max(...numbers)}`)
      const restored = temporaryDirectory(t)
      mkdirSync(path.join(restored, 'data'))
      for (const name of readdirSync(image)) copyFileSync(path.join(image, name), path.join(restored, 'data', name))
      return restored
    },
  }
}
