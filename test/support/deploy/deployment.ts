import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type Config, readConfig } from '../../../src/config/config.ts'
import { SETTINGS } from '../../../src/config/settings.ts'

const ROOT = path.join(import.meta.dirname, '../../..')

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')

/** The text of a file in `deploy/`. */
export const readDeployment = (name: string): string => read(`deploy/${name}`)

/** The user of the container file, and all that is known of its environment. */
export const containerFile = () => {
  const text = readDeployment('container/Dockerfile')
  const [, user = ''] = /^USER (\d+):\d+$/m.exec(text) ?? []
  const [, variables = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(text) ?? []
  const environment = Object.fromEntries(
    [...variables.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  )
  return { text, user: Number(user), environment: environment as Record<string, string> }
}

/**
 * The configuration that the service would read; throws for a wrong value. A name that is no setting is only a warning
 * to the service, and fails here.
 */
export const readSettings = (environment: Record<string, string>, files: Record<string, string> = {}): Config => {
  const names = Object.values(SETTINGS).flatMap(({ name }) => [name, `${name}_FILE`])
  const settings = Object.entries(environment).filter(([name]) => name.startsWith('SVC_'))
  for (const [name] of settings) assert.ok(names.includes(name), `${name} is a setting`)
  return readConfig(Object.fromEntries(settings), (file) => files[file] ?? assert.fail(`no file ${file}`))
}

/** Asserts that the time until a stop is forced is longer than the longest stop. */
export const assertTimeToStop = (seconds: number, { drainMs }: Config): void => {
  const [, stopWithin = ''] = /STOP_WITHIN_MS = (\d+)/.exec(read('src/serve/serve.ts')) ?? []
  assert.ok(seconds * 1000 > drainMs + Number(stopWithin), `${seconds} s`)
}
