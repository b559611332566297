// Runs once.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { AppError } from '../../src/lib/errors.ts'
import { type ConnectionInfo, readPostgresUrl } from '../../src/storage/postgres/url.ts'
import { freshEnvironment } from '../support/service/command.ts'

const plain = { host: 'db', port: 5432, user: 'ada', database: 'svc', tls: { mode: 'prefer' } }

const accepted: [url: string, expected: object, redactedUrl: string][] = [
  ['postgres://ada@db/svc', {}, 'postgres://ada@db:5432/svc'],
  ['postgresql://ada@db:6432/svc', { port: 6432 }, 'postgres://ada@db:6432/svc'],
  ['postgres://ada:b:c@db/svc', { password: 'b:c' }, 'postgres://ada@db:5432/svc'],
  ['postgres://ada:#[b]&=c@db/svc', { password: '#[b]&=c' }, 'postgres://ada@db:5432/svc'],
  [
    'postgres://a%40a:p%3A%2F%40%25%C3%A9@db/s%2Fvc',
    { user: 'a@a', password: 'p:/@%é', database: 's/vc' },
    'postgres://a%40a@db:5432/s%2Fvc',
  ],
  ['postgres://ada:@db/svc', {}, 'postgres://ada@db:5432/svc'],
  ['postgres://ada@[::1]:5433/svc', { host: '::1', port: 5433 }, 'postgres://ada@[::1]:5433/svc'],
  ['postgres://ada@10.0.0.1/svc', { host: '10.0.0.1' }, 'postgres://ada@10.0.0.1:5432/svc'],
  ['postgres://ada@/svc?host=/run/pg', { host: '/run/pg' }, 'postgres://ada@%2Frun%2Fpg:5432/svc'],
  ['postgres://ada@%2Frun%2Fpg/svc', { host: '/run/pg' }, 'postgres://ada@%2Frun%2Fpg:5432/svc'],
  [
    'postgres://?host=db&port=7&user=ada&password=secret&dbname=svc',
    { port: 7, password: 'secret' },
    'postgres://ada@db:7/svc',
  ],
  [
    'postgres://ada@db/svc?application_name=my%20app&connect_timeout=5',
    { applicationName: 'my app', connectTimeoutMs: 5000 },
    'postgres://ada@db:5432/svc?application_name=my%20app&connect_timeout=5',
  ],
  ['postgres://ada@db/svc?sslmode=disable', { tls: { mode: 'disable' } }, 'postgres://ada@db:5432/svc?sslmode=disable'],
  ['postgres://ada@db/svc?sslmode=allow', { tls: { mode: 'allow' } }, 'postgres://ada@db:5432/svc?sslmode=allow'],
  ['postgres://ada@db/svc?sslmode=require', { tls: { mode: 'require' } }, 'postgres://ada@db:5432/svc?sslmode=require'],
  [
    'postgres://ada@db/svc?sslmode=require&sslrootcert=/etc/ca.pem',
    { tls: { mode: 'require', rootCertificateFile: '/etc/ca.pem' } },
    'postgres://ada@db:5432/svc?sslmode=require&sslrootcert=/etc/ca.pem',
  ],
  [
    'postgres://ada@db/svc?sslmode=verify-ca&sslrootcert=ca.pem&sslcert=c.pem&sslkey=k.pem&sslpassword=secret',
    {
      tls: {
        mode: 'verify-ca',
        rootCertificateFile: 'ca.pem',
        certificateFile: 'c.pem',
        keyFile: 'k.pem',
        keyPassword: 'secret',
      },
    },
    'postgres://ada@db:5432/svc?sslmode=verify-ca&sslrootcert=ca.pem&sslcert=c.pem&sslkey=k.pem',
  ],
  [
    'postgres://ada@db/svc?sslrootcert=system',
    { tls: { mode: 'verify-full', rootCertificateFile: 'system' } },
    'postgres://ada@db:5432/svc?sslrootcert=system',
  ],
]

// Every password contains `hunter`.
const refused: [url: string, message: RegExp][] = [
  ['postgres:ada@db/svc', /postgres:\/\/USER/],
  ['postgres:/ada@db/svc', /postgres:\/\/USER/],
  ['postgres://ada:hunter@2@db/svc', /%40/],
  ['postgres://ada:hunter/2@db/svc', /%2F/],
  ['postgres://ada:1234/hunter@db/svc', /%2F/],
  ['postgres://ada:1234?hunter@db/svc', /%3F/],
  ['postgres://ada:1?hunter=2@db/svc', /%3F/],
  ['postgres://ada:hunter 2@db/svc', /space/],
  ['postgres://ada:hunter\n@db/svc', /space/],
  ['postgres://ada:hunter%@db/svc', /hexadecimal/],
  ['postgres://ada:hunter%zz@db/svc', /hexadecimal/],
  ['postgres://ada:hunter%00@db/svc', /NUL/],
  ['postgres://ada:hunter%ff@db/svc', /UTF-8/],
  ['postgres://ada@a,b/svc', /one host/],
  ['postgres://ada@a:1,b:2/svc', /one host/],
  ['postgres://ada@/svc?host=a,b', /one host/],
  ['postgres://ada@a%2Cb/svc', /one host/],
  ['postgres://ada@db:0/svc', /port .* 1 to 65535/],
  ['postgres://ada@db:65536/svc', /port .* 1 to 65535/],
  ['postgres://ada@db:x/svc', /HOST:5432/],
  ['postgres://ada@db:/svc', /HOST:5432/],
  ['postgres://ada@db/svc?port=+5', /port .* 1 to 65535/],
  ['postgres://ada@[db]/svc', /IPv6/],
  ['postgres://ada@::1/svc', /HOST:5432/],
  ['postgres://ada@d%20b/svc', /host is no name/],
  ['postgres://ada@/svc', /no host/],
  ['postgres:///svc?user=ada', /no host/],
  ['postgres://db/svc', /no user/],
  ['postgres://:hunter@db/svc', /no user/],
  ['postgres://ada@db', /no database/],
  ['postgres://ada@db/', /no database/],
  ['postgres://ada@db/svc?host=other', /host is given twice/],
  ['postgres://ada@db/svc?dbname=other', /dbname is given twice/],
  ['postgres://ada:hunter@db/svc?password=hunter', /password is given twice/],
  ['postgres://ada@db/svc?sslmode=disable&sslmode=require', /sslmode is given twice/],
  ['postgres://ada@db/svc?sslmode', /sslmode=VALUE/],
  ['postgres://ada@db/svc?sslmode=', /sslmode=VALUE/],
  ['postgres://ada@db/svc?password=hunter=', /password=VALUE/],
  ['postgres://ada@db/svc?password=x&hunter=y', /a parameter .* sslmode/],
  ['postgres://ada@db/svc?sslmod=verify-full', /parameter "sslmod" is not supported: there are host, .*sslmode/],
  ['postgres://ada@db/svc?sslMode=require', /is not supported/],
  ['postgres://ada@db/svc?SSLMODE=require', /is not supported/],
  ['postgres://ada@db/svc?target_session_attrs=any', /"target_session_attrs" is not supported/],
  ['postgres://ada@db/svc?options=-c%20x', /"options" is not supported/],
  ['postgres://ada@db/svc?&', /is not supported/],
  [
    'postgres://ada@db/svc?sslmode=verify_full',
    /sslmode must be disable, allow, prefer, require, verify-ca, verify-full/,
  ],
  ['postgres://ada@db/svc?sslmode=require#x', /sslmode must be/],
  ['postgres://ada@db/svc?sslmode=verify-full', /needs sslrootcert=FILE, or sslrootcert=system/],
  ['postgres://ada@db/svc?sslmode=verify-ca', /needs sslrootcert=FILE/],
  ['postgres://ada@db/svc?sslmode=require&sslrootcert=system', /needs sslmode=verify-full/],
  ['postgres://ada@db/svc?sslmode=disable&sslrootcert=ca.pem', /takes no certificate/],
  ['postgres://ada@db/svc?sslcert=c.pem', /sslcert and sslkey/],
  ['postgres://ada@db/svc?sslkey=k.pem', /sslcert and sslkey/],
  ['postgres://ada@db/svc?sslpassword=hunter', /not given/],
  ['postgres://ada@db/svc?connect_timeout=0', /connect_timeout .* 1 to 2147483/],
  ['postgres://ada@db/svc?connect_timeout=1.5', /connect_timeout/],
]

describe('the URL of a PostgreSQL database is read as libpq does', () => {
  for (const [url, expected, redactedUrl] of accepted) {
    test(`${url} is accepted`, () => {
      assert.deepEqual(readPostgresUrl(url), { ...plain, ...expected, redactedUrl })
    })
  }

  for (const [url, message] of refused) {
    test(`${JSON.stringify(url)} is refused, and the message contains no part of a password`, () => {
      assert.throws(
        () => readPostgresUrl(url),
        (error) => {
          assert.ok(error instanceof AppError)
          assert.match(error.message, message)
          assert.doesNotMatch(error.message, /hunter|1234/)
          return true
        },
      )
    })
  }

  for (const [url] of accepted) {
    test(`the redacted form of ${url} has the same meaning, without the password`, () => {
      const { password: _password, tls, ...target } = readPostgresUrl(url)
      const { keyPassword: _keyPassword, ...openTls } = tls
      assert.deepEqual(readPostgresUrl(target.redactedUrl), { ...target, tls: openTls })
    })
  }
})

/** The connection that `pg` would make with this URL and these variables. */
const driverSettings = (url: string, env: Record<string, string>) => {
  const program = `
    import pg from 'pg'
    import { toClientConfig } from './src/storage/postgres/tls.ts'
    import { readPostgresUrl } from './src/storage/postgres/url.ts'
    const client = new pg.Client(toClientConfig(readPostgresUrl(${JSON.stringify(url)}), 'plain'))
    const { user, database, host, port, ssl, application_name, sslnegotiation } = client.connectionParameters
    const password = await client.password()
    console.log(JSON.stringify({ user, database, host, port, ssl, application_name, sslnegotiation, password }))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module-typescript', '--eval', program], {
    cwd: new URL('../..', import.meta.url),
    env: freshEnvironment(env),
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  return JSON.parse(stdout) as ConnectionInfo
}

test('PG* variables do not fill in what the URL leaves out', () => {
  const env = {
    PGUSER: 'eve',
    PGPASSWORD: 'from-environment',
    PGHOST: 'elsewhere',
    PGPORT: '1',
    PGDATABASE: 'other',
    PGSSLMODE: 'require',
    PGSSLNEGOTIATION: 'direct',
    PGAPPNAME: 'other',
  }
  assert.deepEqual(driverSettings('postgres://ada@db/svc', env), {
    user: 'ada',
    database: 'svc',
    host: 'db',
    port: 5432,
    ssl: false,
    application_name: 'svc',
    sslnegotiation: 'postgres',
    password: '',
  })
})
