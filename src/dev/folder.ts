import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { makeDataFolder } from '../lib/durable-file.ts'
import { AppError } from '../lib/errors.ts'

/** A folder with this file was made by `svc dev`. While it is in use, the file has the id of the process. */
const MARK = '.svc-dev'

/** The data of a `svc dev`. */
export interface DevFolder {
  databaseFile: string
  /** Removes it if it is temporary; may be called again. */
  leave(): void
}

/**
 * Opens the folder of a name, which may not exist yet, or a temporary one. Throws `conflict` for a folder that `svc dev`
 * did not make, unless it is empty, and for one that another process uses.
 */
export const openFolder = (name: string | undefined): DevFolder => (name === undefined ? temporary() : kept(name))

const fileIn = (folder: string): string => path.join(folder, 'svc.db')

const temporary = (): DevFolder => {
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-dev-'))
  return { databaseFile: fileIn(folder), leave: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }) }
}

const kept = (name: string): DevFolder => {
  const folder = path.resolve(name)
  const mark = path.join(folder, MARK)
  try {
    makeDataFolder(folder)
    requireOwn(folder, mark)
    writeFileSync(mark, String(process.pid))
  } catch (error) {
    if (error instanceof AppError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new AppError('unavailable', `--data ${name} cannot be used (${code}): name a folder that you may write to`)
  }
  return { databaseFile: fileIn(folder), leave: () => existsSync(mark) && writeFileSync(mark, '') }
}

const requireOwn = (folder: string, mark: string): void => {
  if (!existsSync(mark)) {
    if (readdirSync(folder).every((file) => file === '.gitignore')) return
    const advice = 'name one that svc dev has made, an empty one, or one that does not exist'
    throw new AppError('conflict', `--data ${folder} is not a folder of svc dev, and not empty: ${advice}`)
  }
  const pid = Number(readFileSync(mark, 'utf8'))
  if (pid > 0 && pid !== process.pid && isRunning(pid))
    throw new AppError('conflict', `--data ${folder} is in use by another svc dev, process ${pid}`)
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
