// Runs on SQLite.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, describe, test } from 'node:test'
import { defaultBaseUrl } from '../../../src/config/config.ts'
import { signedUp } from '../../support/client/accounts.ts'
import { databasePath } from '../../support/database/database-file.ts'
import { type CommandResult, runSvc } from '../../support/service/command.ts'
import { runCommandOf } from '../../support/service/operator-commands.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/service/service-process.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import path from 'node:path'

const stack = /\n\s+at |node:internal|\.ts:\d+/

/** Checks that the output names all of these in one line, without a stack. */
const assertOneLine = ({ stdout, stderr }: CommandResult, words: string[]) => {
  const output = stdout + stderr
  const lines = output.split('\n').filter((line) => words.every((word) => line.includes(word)))
  assert.equal(lines.length, 1, `one line with ${words.join(' and ')}:\n${output}`)
  assert.doesNotMatch(output, stack)
}

/** A stopped service with its secret and a database file without tables. */
const withEmptyDatabase = async (t: TestContext): Promise<ServiceProcess> => {
  const service = await startServiceProcess({ t })
  assert.equal(await service.stop(), 0)
  const file = databasePath(service.directory)
  const folder = path.dirname(file)
  for (const name of readdirSync(folder)) if (name.startsWith('svc.db')) rmSync(path.join(folder, name))
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL')
  database.close()
  return service
}

test('the folder that svc makes for its data keeps itself out of a repository; one that is there is left alone', async (t) => {
  const cwd = temporaryDirectory(t)
  mkdirSync(path.join(cwd, 'there'))
  for (const env of [
    {},
    { SVC_DATABASE_URL: 'sqlite:there/svc.db' },
    { SVC_DATABASE_URL: 'sqlite:new/svc.db', SVC_SECRET: randomBytes(32).toString('base64') },
  ])
    assert.equal((await runCommand({ args: ['users', 'list'], cwd, env })).code, 0)
  const ignored = ['data', 'there', 'new'].map((folder) => readdirSync(path.join(cwd, folder)).includes('.gitignore'))
  assert.deepEqual(ignored, [true, false, true])
  assert.equal(readFileSync(path.join(cwd, 'data/.gitignore'), 'utf8'), '*\n')
})

describe('a start', { concurrency: 2 }, () => {
  for (const [variable, more] of [
    ['SVC_WEBHOOK_SECRET_FILE', { SVC_WEBHOOK_URL: 'http://127.0.0.1:9/' }],
    ['SVC_SECRET_FILE', {}],
  ] as const) {
    test(`${variable} that names an empty file is an error: exit 78, with the variable and the path`, async (t) => {
      const cwd = temporaryDirectory(t)
      const file = path.join(cwd, 'empty')
      writeFileSync(file, '\n')
      const result = await runCommand({ args: ['serve'], cwd, env: { SVC_PORT: '0', [variable]: file, ...more } })
      assert.equal(result.code, 78, result.stderr)
      assertOneLine(result, [variable, file])
    })
  }

  test('svc migrate --check names the pending migrations of a database without tables, and svc serve applies them', async (t) => {
    const service = await withEmptyDatabase(t)
    const check = await service.cli(['migrate', '--check'])
    assert.equal(check.code, 1, check.stderr)
    assert.match(check.stdout, /001-schema/)
    assert.doesNotMatch(check.stdout + check.stderr, stack)
    assert.doesNotMatch(check.stderr, /no such table/)
    await service.restart()
    await signedUp(service)
    await runCommandOf(service, ['migrate', '--check'])
  })

  test('the default base URL is an origin as browsers write it, without the default port', () => {
    assert.equal(defaultBaseUrl(80), 'http://localhost')
    assert.equal(defaultBaseUrl(8080), 'http://localhost:8080')
  })

  test('a taken port is reported in one clear line, which names the setting', async (t) => {
    const { port } = await startServiceProcess({ t })
    const cwd = temporaryDirectory(t)
    const { code, stderr } = await runSvc({ args: ['serve'], cwd, env: { SVC_PORT: String(port) } })
    assert.equal(code, 1)
    const said = stderr.split('\n').filter((line) => line.startsWith('svc: '))
    assert.deepEqual(said, [`svc: Port ${port} on 127.0.0.1 is taken: set SVC_PORT to another.`])
  })

  for (const port of ['0', '8099']) {
    test(`a host that svc cannot listen on is reported in one clear line without a stack (SVC_PORT=${port})`, async (t) => {
      const env = { SVC_PORT: port, SVC_HOST: '256.1.1.1' }
      const result = await runSvc({ args: ['serve'], cwd: temporaryDirectory(t), env })
      assert.ok(result.code !== null && result.code > 0, `exit ${result.code}`)
      assertOneLine(result, ['Cannot listen on 256.1.1.1', port])
    })
  }
})
