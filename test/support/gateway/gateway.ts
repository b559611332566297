import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterwards, beforeExit } from '../cleanup.ts'
import { freePort, listensOn } from '../network/free-port.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { eventually } from '../wait.ts'
import { CONFIGURATION, type GatewayName, gatewayConfiguration, type Ports } from './gateway-configuration.ts'
import { GATEWAY_PACKAGES, missingPrograms, OTHER_PROGRAMS } from './gateway-packages.ts'

const untilListening = async (child: ChildProcess, port: number, output: () => string): Promise<void> => {
  const deadline = Date.now() + 60_000
  while (!(await listensOn(port))) {
    const isGone = child.exitCode !== null || child.signalCode !== null
    if (isGone || Date.now() > deadline) throw new Error(`${child.spawnfile} did not start:\n${output()}`)
    await sleep(20)
  }
}

/**
 * Runs a program until the test `t` or the file ends. Resolves when it listens, to a function that
 * ends it.
 */
export const startProgram = async (
  command: string[],
  {
    port,
    cwd,
    t,
    env: more = {},
  }: { port: number; cwd: string; t?: TestContext | undefined; env?: Record<string, string> },
): Promise<() => Promise<void>> => {
  const [program = '', ...args] = command
  const env = { PATH: `${process.env.PATH}:/usr/sbin`, HOME: cwd, XDG_DATA_HOME: cwd, XDG_CONFIG_HOME: cwd, ...more }
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  child.once('error', () => {})
  child.once(
    'exit',
    beforeExit(() => child.kill('SIGKILL')),
  )
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  afterwards(t, end)
  await untilListening(child, port, () => output)
  return end
}

/** Fails with an instruction if a program is missing. */
export const requirePrograms = (): void => {
  const missing = missingPrograms()
  if (missing.length === 0) return
  throw new Error(
    `These programs are missing: ${missing.join(', ')}. They come with the Debian packages ${GATEWAY_PACKAGES.join(' ')}.`,
  )
}

/** What runs a gateway with its configuration in `file`. */
export const COMMANDS: Record<GatewayName, (file: string, folder: string) => string[]> = {
  nginx: (file, folder) => ['nginx', '-p', folder, '-e', 'stderr', '-c', file],
  Caddy: (file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  HAProxy: (file) => ['haproxy', '-q', '-f', file],
  Traefik: (_file, folder) => [OTHER_PROGRAMS.Traefik ?? '', `--configFile=${path.join(folder, 'static.yml')}`],
  // Envoy reads no file below /dev, where the folders of tests may be.
  Envoy: (file) => {
    const text = readFileSync(file, 'utf8')
    return [OTHER_PROGRAMS.Envoy ?? '', '--use-dynamic-base-id', '--log-level', 'error', '--config-yaml', text]
  },
  // One process, so that ending it ends its threads, too.
  'Caddy of compose': (file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  Apache: (file) => ['apache2', '-X', '-f', file],
}

/** Traefik reads its routers after it has begun to listen, and answers 404 until then. */
const untilRouting = (port: number): Promise<void> =>
  eventually('Traefik has its routers', async () => {
    const { status } = await fetch(`http://localhost:${port}/auth/health`)
    return status !== 404
  })

/**
 * Starts a gateway with its configuration in deploy/. `change` may edit the text, and write files to
 * `folder`. Resolves to its port.
 */
export const startGateway = async (
  name: GatewayName,
  {
    change = (text) => text,
    t,
    folder = temporaryDirectory(t),
    gateway: givenPort,
    ...backends
  }: Pick<Ports, 'svc' | 'app'> & {
    gateway?: number
    change?: (text: string) => string
    folder?: string
    t?: TestContext
  },
): Promise<number> => {
  requirePrograms()
  const [gateway, check] = [givenPort ?? (await freePort()), await freePort()]
  const file = path.join(folder, CONFIGURATION)
  writeFileSync(file, change(gatewayConfiguration[name]({ ...backends, gateway, check }, folder)))
  await startProgram(COMMANDS[name](file, folder), { port: gateway, cwd: folder, t })
  if (name === 'Traefik') await untilRouting(gateway)
  return gateway
}
