import { readFileSync } from 'node:fs'

/** Reads the version in `package.json`. */
export const readVersion = (): string => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}
