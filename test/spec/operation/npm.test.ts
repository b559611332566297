// Runs on SQLite.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { afterwards, beforeExit } from '../../support/cleanup.ts'
import { freePort, listensOn } from '../../support/network/free-port.ts'
import { freshEnvironment } from '../../support/service/command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { eventually, within } from '../../support/wait.ts'

const ROOT = path.join(import.meta.dirname, '../../..')

/** Runs npm in the repository, in its own process group, whose remaining processes are killed after the test. */
const spawnNpm = (args: readonly string[], env: Record<string, string>, t: TestContext) => {
  const child = spawn('npm', args, {
    cwd: ROOT,
    env: freshEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output.text += text.toString()))
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // No process of the group is left.
    }
  }
  const forget = beforeExit(kill)
  afterwards(t, () => {
    forget()
    kill()
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { output, ended, signal: (name: NodeJS.Signals) => child.kill(name) }
}

describe('npm', { concurrency: true }, () => {
  for (const [args, signal] of [
    [['start'], 'SIGTERM'],
    [['start'], 'SIGINT'],
    [['run', '--silent', 'svc', '--', 'serve'], 'SIGTERM'],
    // This is npx.
    [['exec', '--call', 'bin/svc.js serve'], 'SIGTERM'],
  ] as const) {
    test(`npm ${args.join(' ')}: ${signal} to npm alone ends the service, which frees its port`, async (t) => {
      const directory = temporaryDirectory(t)
      const port = await freePort()
      const npm = spawnNpm(
        args,
        {
          HOME: directory,
          npm_config_cache: path.join(directory, 'npm'),
          npm_config_update_notifier: 'false',
          SVC_PORT: String(port),
          SVC_DATABASE_URL: `sqlite:${path.join(directory, 'svc.db')}`,
        },
        t,
      )
      await eventually('it serves', () => npm.output.text.includes('svc is serving'))
      npm.signal(signal)
      await eventually('the port is free', async () => !(await listensOn(port)))
      await within(60, 'npm ends', npm.ended)
      assert.doesNotMatch(npm.output.text, /"level":"error"/)
    })
  }
})
