import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { MachineAdmin } from '../admin/admin.ts'
import { showSettings } from '../config/shown-settings.ts'
import { wholeNumber } from '../config/parsers.ts'
import { AppError } from '../lib/errors.ts'
import { createLog } from '../lib/log.ts'
import { command, option } from './command/command.ts'
import { print, printNotice } from './terminal/output.ts'

/** Pages for operators, in a browser of this machine. They work beside a running service, and without one. */
export const adminCommand = command({
  text: 'open pages in a browser of this machine, to help users and to see what happened',
  examples: ['svc admin', 'svc admin --open', 'svc admin --read-only', 'svc admin --listen 0.0.0.0 --port 9000'],
  notes: `\
The address that it prints is good once, for five minutes. The browser that opens it can do
what this command line can. The pages close after 30 minutes in which nobody used them, and with Ctrl+C.
From afar: ssh -L 9000:127.0.0.1:9000 SERVER svc admin --port 9000. In a container, --listen
0.0.0.0 with the same port published on 127.0.0.1 of the host.`,
  options: {
    port: option.parsed('--port <port>', 'port to listen on; a free one by default', wholeNumber(1, 65_535)),
    listen: option.text('--listen <address>', 'address to listen on; 127.0.0.1 by default'),
    opens: option.flag('--open', 'open the address in a browser'),
    readOnly: option.flag('--read-only', 'show everything, and change nothing'),
  },
  json: false,
  run: (call) =>
    call.withCore(async ({ core, config, logEvent }) => {
      const { port = 0, listen: host = '127.0.0.1', opens = false, readOnly = false } = call.options
      const [{ createMachineAdmin }, { examine }] = await Promise.all([
        import('../admin/admin.ts'),
        import('./doctor/installation.ts'),
      ])
      const admin: MachineAdmin = createMachineAdmin({
        core,
        config,
        log: createLog('warn', { write: (line) => process.stderr.write(line) }),
        inspection: {
          listSettings: async () => showSettings(config, call),
          examine: (origin) => examine(config, { origin, ca: undefined }),
        },
        findPort: () => (admin.server.address() as AddressInfo).port,
        role: readOnly ? 'look' : 'change',
        logCommandEvent: logEvent,
      })
      await listenAt(admin.server, { host, port })
      const close = opens ? await openInBrowser(admin) : () => {}
      await print(`${admin.door.entryUrl}\n`)
      printNotice('the address is good once, for five minutes; the pages close after 30 idle minutes, or with Ctrl+C')
      await untilEnd(admin, close)
      close()
      admin.server.close()
      admin.server.closeAllConnections()
    }),
})

const listenAt = async (server: Server, { host, port }: { host: string; port: number }): Promise<void> => {
  try {
    await once(server.listen({ host, port }), 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message =
      code === 'EADDRINUSE'
        ? `port ${port} on ${host} is taken: give another with --port`
        : `cannot listen on ${host} port ${port} (${code})`
    throw new AppError('unavailable', message)
  }
}

const LOOK_EVERY_MS = 1000

/** Resolves when the pages are left alone, or the command is told to end. */
const untilEnd = async ({ door }: MachineAdmin, close: () => void): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => resolve()
  const timer = setInterval(() => {
    if (door.isEntered()) close()
    if (!door.isLeftAlone()) return
    printNotice('nobody has used the pages for 30 minutes: they are closed')
    end()
  }, LOOK_EVERY_MS)
  for (const signal of SIGNALS) process.once(signal, end)
  await promise
  clearInterval(timer)
  for (const signal of SIGNALS) process.off(signal, end)
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Opens the address by a file that its owner alone can read: every user of a machine sees the arguments of programs.
 * Returns how to take the file away.
 */
const openInBrowser = async ({ openingPage }: MachineAdmin): Promise<() => void> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-admin-'))
  const file = path.join(folder, 'open.html')
  writeFileSync(file, openingPage(), { mode: 0o600 })
  const [program = '', ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const { spawn } = await import('node:child_process')
  const child = spawn(program, [...args, file], { stdio: 'ignore', detached: true })
  child.once('error', () => printNotice(`there is no ${program} here: open the address yourself`))
  child.unref()
  return () => rmSync(folder, { recursive: true, force: true })
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}
