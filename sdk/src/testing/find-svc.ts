import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const PACKAGE = '@svc/svc'

const findInstalled = (from: string): string | undefined => {
  try {
    return path.join(path.dirname(createRequire(from).resolve(`${PACKAGE}/package.json`)), 'bin/svc.js')
  } catch {
    return undefined
  }
}

/**
 * The launcher of svc: `SVC_BIN`, or that of the package which is installed beside the application or this package.
 * Throws when there is none.
 */
export const findSvc = (): string => {
  const named = process.env.SVC_BIN
  if (named) {
    if (existsSync(named)) return path.resolve(named)
    throw new Error(`SVC_BIN names no file: ${named}`)
  }
  const found = findInstalled(path.resolve('any.js')) ?? findInstalled(import.meta.url)
  if (found !== undefined) return found
  throw new Error(
    `${PACKAGE} is not installed. It is not published yet: install what "npm pack" writes in a checkout of svc, or set SVC_BIN to the path of bin/svc.js there`,
  )
}
