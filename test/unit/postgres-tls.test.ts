// Runs once.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { before, describe, test } from 'node:test'
import pg from 'pg'
import { AppError } from '../../src/lib/errors.ts'
import { negotiateConnection } from '../../src/storage/postgres/negotiate-connection.ts'
import { readPostgresUrl } from '../../src/storage/postgres/url.ts'
import { createAuthority } from '../support/network/certificates.ts'
import { startPostgres } from '../support/postgres/postgres.ts'
import { giveTo, serverOwner } from '../support/postgres/postgres-binaries.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const folder = temporaryDirectory()
const at = (name: string): string => path.join(folder, name)

const write = (name: string, content: string): void => writeFileSync(at(name), content, { mode: 0o600 })

/** The rules of pg_hba.conf. */
const HBA = `
host      all postgres   127.0.0.1/32 trust
host      all either     127.0.0.1/32 trust
hostssl   all tls_only   127.0.0.1/32 trust
hostnossl all plain_only 127.0.0.1/32 trust
hostssl   all certified  127.0.0.1/32 cert
host      all secretive  127.0.0.1/32 scram-sha-256
`

let tlsPort = 0
let plainPort = 0

before(async () => {
  const authority = createAuthority('Authority of a test')
  const server = authority.issue('server', 'localhost')
  const client = authority.issue('certified')
  write('root.pem', authority.root)
  write('other-root.pem', createAuthority('Authority of another test').root)
  write('server.pem', server.certificate)
  write('server.key', server.key)
  write('client.pem', client.certificate)
  write('client.key', client.key)
  write('broken.pem', '-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n')
  write('empty.pem', '')
  write('hba.conf', HBA)
  giveTo(serverOwner(), folder)
  const files = {
    ssl_cert_file: at('server.pem'),
    ssl_key_file: at('server.key'),
    ssl_ca_file: at('root.pem'),
    hba_file: at('hba.conf'),
  }
  const [tls, plain] = await Promise.all([startPostgres({ settings: { ssl: 'on', ...files } }), startPostgres()])
  tlsPort = tls.port
  plainPort = plain.port
  for (const role of ['either', 'tls_only', 'plain_only', 'certified']) {
    await tls.query(tls.url(), `CREATE ROLE ${role} LOGIN`)
  }
  await tls.query(tls.url(), `CREATE ROLE secretive LOGIN PASSWORD 'p:/@&é'`)
})

interface Case {
  mode: string
  user: string
  parameters?: string
  host?: string
  server?: 'plain'
}

/** How a connection was made, or why it failed. */
const outcomeOf = async ({ mode, user, parameters = '', host = 'localhost', server }: Case): Promise<string> => {
  const port = server === 'plain' ? plainPort : tlsPort
  const url = `postgres://${user}@${host}:${port}/postgres?sslmode=${mode}${parameters}`
  try {
    const options = await negotiateConnection(readPostgresUrl(url), { waitMs: 0, onWait: () => {} })
    const client = new pg.Client(options)
    await client.connect()
    const { rows } = await client.query<{ ssl: boolean }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
    await client.end()
    return rows[0]?.ssl ? 'tls' : 'plain'
  } catch (error) {
    assert.ok(error instanceof AppError, String(error))
    const { cause } = error
    return `${error.message} ${cause instanceof Error ? `${'code' in cause ? String(cause.code) : ''} ${cause.message}` : ''}`
  }
}

const root = () => `&sslrootcert=${at('root.pem')}`
const otherRoot = () => `&sslrootcert=${at('other-root.pem')}`
const clientCertificate = () => `&sslcert=${at('client.pem')}&sslkey=${at('client.key')}`

const NO_ENTRY = /28000 .*no pg_hba\.conf entry/
const UNKNOWN_ISSUER = /SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE/

describe('sslmode means what it means to libpq', () => {
  const cases: [title: string, expected: RegExp, what: () => Case][] = [
    ['disable asks for no TLS', /^plain$/, () => ({ mode: 'disable', user: 'either' })],
    ['disable is refused where TLS is required', NO_ENTRY, () => ({ mode: 'disable', user: 'tls_only' })],
    ['allow begins without TLS', /^plain$/, () => ({ mode: 'allow', user: 'either' })],
    ['allow takes TLS where it is required', /^tls$/, () => ({ mode: 'allow', user: 'tls_only' })],
    ['prefer takes TLS where it is offered', /^tls$/, () => ({ mode: 'prefer', user: 'either' })],
    [
      'prefer goes without where there is none',
      /^plain$/,
      () => ({ mode: 'prefer', user: 'postgres', server: 'plain' }),
    ],
    ['prefer goes without where TLS is refused', /^plain$/, () => ({ mode: 'prefer', user: 'plain_only' })],
    [
      'prefer goes without where the certificate is not of the root that is named',
      /^plain$/,
      () => ({ mode: 'prefer', user: 'either', parameters: otherRoot() }),
    ],
    ['require takes TLS from anybody', /^tls$/, () => ({ mode: 'require', user: 'either', host: '127.0.0.1' })],
    [
      'require does not go without',
      /does not support SSL/,
      () => ({ mode: 'require', user: 'postgres', server: 'plain' }),
    ],
    ['require does not go without where TLS is refused', NO_ENTRY, () => ({ mode: 'require', user: 'plain_only' })],
    [
      'require with a root checks the chain',
      UNKNOWN_ISSUER,
      () => ({ mode: 'require', user: 'either', parameters: otherRoot() }),
    ],
    [
      'require with a root does not check the name',
      /^tls$/,
      () => ({ mode: 'require', user: 'either', parameters: root(), host: '127.0.0.1' }),
    ],
    [
      'verify-ca checks the chain',
      UNKNOWN_ISSUER,
      () => ({ mode: 'verify-ca', user: 'either', parameters: otherRoot() }),
    ],
    [
      'verify-ca does not check the name',
      /^tls$/,
      () => ({ mode: 'verify-ca', user: 'either', parameters: root(), host: '127.0.0.1' }),
    ],
    ['verify-full takes the name', /^tls$/, () => ({ mode: 'verify-full', user: 'either', parameters: root() })],
    [
      'verify-full refuses another name',
      /ERR_TLS_CERT_ALTNAME_INVALID/,
      () => ({ mode: 'verify-full', user: 'either', parameters: root(), host: '127.0.0.1' }),
    ],
    [
      'verify-full checks the chain',
      UNKNOWN_ISSUER,
      () => ({ mode: 'verify-full', user: 'either', parameters: otherRoot() }),
    ],
    [
      'verify-full with the roots of the operating system does not know a private one',
      /SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|ca-certificates/,
      () => ({ mode: 'verify-full', user: 'either', parameters: '&sslrootcert=system' }),
    ],
    [
      'a client certificate is shown',
      /^tls$/,
      () => ({ mode: 'verify-full', user: 'certified', parameters: root() + clientCertificate() }),
    ],
    [
      'who has no client certificate is refused',
      /28000|certificate/,
      () => ({ mode: 'verify-full', user: 'certified', parameters: root() }),
    ],
    ['a password is sent', /^tls$/, () => ({ mode: 'prefer', user: 'secretive:p%3A%2F%40%26%C3%A9' })],
    [
      'a wrong password is refused, and not told',
      /^(?!.*wrong).*28P01/,
      () => ({ mode: 'prefer', user: 'secretive:wrong' }),
    ],
    [
      'a file that is not there is named',
      /The sslrootcert .*nowhere\.pem .*cannot be read\. ENOENT/,
      () => ({ mode: 'require', user: 'either', parameters: `&sslrootcert=${at('nowhere.pem')}` }),
    ],
    ...['broken.pem', 'empty.pem', 'server.key'].map((name): [string, RegExp, () => Case] => [
      `a root without a certificate is told by its parameter, and nobody is trusted in its place: ${name}`,
      /The content of sslrootcert .*cannot be used/,
      () => ({ mode: 'verify-ca', user: 'either', parameters: `&sslrootcert=${at(name)}` }),
    ]),
    [
      'a key that is not that of the certificate is told by its parameters',
      /The content of sslcert, sslkey and sslpassword .*cannot be used/,
      () => ({
        mode: 'require',
        user: 'either',
        parameters: `&sslcert=${at('client.pem')}&sslkey=${at('server.key')}`,
      }),
    ],
  ]
  for (const [title, expected, what] of cases) {
    test(title, async () => {
      assert.match(await outcomeOf(what()), expected)
    })
  }
})
