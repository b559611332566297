import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { startGateway, startProgram } from '../gateway/gateway.ts'
import { freePort } from '../network/free-port.ts'
import { runCommandOf } from '../service/operator-commands.ts'
import { startService } from '../service/service.ts'
import { type Example, PYTHON_PACKAGES, preparedFolder, STAMP, startCommand } from './examples.ts'

/** An example behind nginx, with a service of its own. */
export type RunningExample = {
  svc: Awaited<ReturnType<typeof startService>>
  /** The address of nginx, under which browsers see both. */
  url: string
  /** The address at which the service sends events. */
  webhookUrl: string
  webhookSecret: string
}

/** Whether this run starts an example. `npm test` leaves out what cannot run on this machine, and says so. */
export const canRun = (name: string): boolean => {
  const chosen = process.env.SVC_TEST_EXAMPLES?.split(',')
  return chosen?.includes(name) ?? true
}

/** The folder in which an example runs. Fails if it is not installed. */
export const requirePrepared = (name: string): string => {
  const folder = preparedFolder(name)
  if (existsSync(path.join(folder, STAMP))) return folder
  throw new Error(`examples/${name} is not installed: run "npm run examples"`)
}

const newKey = async (svc: RunningExample['svc']): Promise<string> =>
  (await runCommandOf(svc, ['api-keys', 'create', 'example', '--scope', 'revocations:read'])).trim()

/** Starts an example, its service and nginx with the configuration of docs/integrate.md. They end with the file. */
export const startExample = async ({ name, isLive }: Example): Promise<RunningExample> => {
  const cwd = requirePrepared(name)
  const port = await freePort()
  const webhookUrl = `http://127.0.0.1:${port}/webhooks`
  const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`
  const settings = { SVC_WEBHOOK_URL: webhookUrl, SVC_WEBHOOK_SECRET: webhookSecret }
  const svc = await startService({ env: settings })
  const env = {
    PORT: String(port),
    SVC_URL: `http://127.0.0.1:${svc.port}`,
    SVC_WEBHOOK_SECRET: webhookSecret,
    ...(isLive && { SVC_API_KEY: await newKey(svc) }),
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    PYTHONPATH: PYTHON_PACKAGES,
    PYTHONDONTWRITEBYTECODE: '',
  }
  const [gateway] = await Promise.all([
    startGateway('nginx', { svc: svc.port, app: port }),
    startProgram(startCommand(name, port), { port, cwd, env }),
  ])
  return { svc, url: `http://localhost:${gateway}`, webhookUrl, webhookSecret }
}
