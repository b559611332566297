import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Makes a folder for the database or the root secret, for its owner alone, unless it is there. A folder that svc makes
 * stands beside the code of an application, perhaps: it keeps itself out of its repository.
 */
export const makeDataFolder = (folder: string): void => {
  const isNew = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined
  if (isNew) writeFileSync(join(folder, '.gitignore'), '*\n')
}
