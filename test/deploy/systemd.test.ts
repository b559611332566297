// Runs once.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { SETTINGS } from '../../src/config/settings.ts'
import { parseDuration } from '../../src/lib/time.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const read = (name: string): string => readFileSync(path.join(import.meta.dirname, '../..', name), 'utf8')

const unit = read('deploy/systemd/svc.service')

/** The values of each key, in the order in which they stand. */
const settings = new Map<string, string[]>()
for (const [, key = '', value = ''] of unit.matchAll(/^(\w+)=(.*)$/gm))
  settings.set(key, [...(settings.get(key) ?? []), value])

const only = (key: string): string => {
  const [value = assert.fail(`${key} is missing`), ...more] = settings.get(key) ?? []
  assert.deepEqual(more, [], `${key} is there once`)
  return value
}

const YES = `NoNewPrivileges ProtectHome PrivateTmp PrivateDevices PrivateUsers ProtectClock ProtectControlGroups
  ProtectHostname ProtectKernelLogs ProtectKernelModules ProtectKernelTunables LockPersonality RestrictNamespaces
  RestrictRealtime RestrictSUIDSGID RemoveIPC`.split(/\s+/)

/** What systemd says about a unit in a folder of its own. */
const verify = (t: TestContext, name: string, files: Record<string, string>): string => {
  const folder = temporaryDirectory(t)
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), text.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'))
  }
  const env = { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` }
  const { stdout, stderr } = spawnSync('/usr/bin/systemd-analyze', ['verify', name], { encoding: 'utf8', env })
  return stdout + stderr
}

describe('deploy/systemd/svc.service', () => {
  test('runs as a separate user without privileges', () => {
    assert.notEqual(only('User'), 'root')
    assert.equal(only('CapabilityBoundingSet'), '')
    assert.equal(only('AmbientCapabilities'), '')
    for (const key of YES) assert.equal(only(key), 'yes', key)
  })

  test('can write only its own folder, and only its user can read the files', () => {
    assert.equal(only('ProtectSystem'), 'strict')
    assert.equal(only('WorkingDirectory'), `/var/lib/${only('StateDirectory')}`)
    assert.equal(only('StateDirectoryMode'), '0700')
    assert.equal(only('UMask'), '0077')
    for (const key of ['ReadWritePaths', 'BindPaths']) assert.equal(settings.has(key), false, key)
  })

  test('is limited to the system calls and address families of a service, as far as V8 allows', () => {
    assert.deepEqual(settings.get('SystemCallFilter'), ['@system-service', '~@privileged'])
    assert.equal(only('SystemCallArchitectures'), 'native')
    assert.equal(only('RestrictAddressFamilies'), 'AF_INET AF_INET6 AF_UNIX AF_NETLINK')
    assert.equal(settings.has('MemoryDenyWriteExecute'), false, 'V8 could not compile')
  })

  test('leaves no core dump, which would hold keys', () => {
    assert.equal(only('LimitCORE'), '0')
  })

  test('is restarted without limit, but not with a wrong configuration', () => {
    assert.equal(only('Restart'), 'always')
    assert.equal(only('StartLimitIntervalSec'), '0')
    assert.ok(Number(only('RestartSec')) >= 1)
    assert.equal(only('RestartPreventExitStatus'), '78')
    assert.match(read('docs/operate.md'), /^\| 78 \| wrong configuration/m)
  })

  test('gives a stop enough time', () => {
    const [, stopWithin = ''] = /STOP_WITHIN_MS = (\d+)/.exec(read('src/serve/serve.ts')) ?? []
    const drainMs = parseDuration(SETTINGS.drainMs.defaultValue ?? '') ?? assert.fail()
    assert.ok(Number(only('TimeoutStopSec')) * 1000 > Number(stopWithin) + drainMs)
  })

  test('runs the same command as npm start', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } }
    const [, variable = '', flags = ''] =
      /^exec env (\S+) node (--disable-sigusr1 --.*) bin\/svc\.js serve$/.exec(scripts.start) ?? []
    assert.equal(only('Environment'), variable)
    assert.equal(only('ExecStart'), `/opt/svc/node_modules/.bin/node ${flags} /opt/svc/bin/svc.js serve`)
  })

  // Only where systemd is installed: it checks its keys and values itself.
  if (existsSync('/usr/bin/systemd-analyze')) {
    test('is accepted by systemd without a warning', (t) => {
      assert.equal(verify(t, 'svc.service', { 'svc.service': unit }), '')
      assert.match(verify(t, 'svc.service', { 'svc.service': `${unit}\n[Service]\nUsr=svc\n` }), /Unknown key/)
    })

    test('is a template of replicas with deploy/systemd/replica.conf, whose settings come last', (t) => {
      const more = read('deploy/systemd/replica.conf')
      const files = { 'svc@.service': unit, 'svc@.service.d/replica.conf': more }
      assert.equal(verify(t, 'svc@1.service', files), '')
      assert.match(more, /^EnvironmentFile=\/etc\/svc-%i\.env$/m)
      // A setting in the unit itself would come before both files, and one in a file comes after those before it.
      assert.equal(only('EnvironmentFile'), '/etc/svc.env')
    })
  }
})
