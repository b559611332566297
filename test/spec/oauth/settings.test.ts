// Runs on SQLite.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { type TestContext, describe, test } from 'node:test'
import { readConfig } from '../../../src/config/config.ts'
import type { Environment } from '../../support/service/command.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import path from 'node:path'

type Variables = Record<string, string>

interface Shown {
  name: string
  value: string | null
  source: string
  secret: boolean
}

/** The variables of one provider, without their common beginning. */
const variablesOf = (name: string, settings: Variables): Variables =>
  Object.fromEntries(
    Object.entries(settings).map(([ending, value]) => [
      `SVC_OAUTH_${name.toUpperCase().replaceAll('-', '_')}_${ending}`,
      value,
    ]),
  )

const credentials = { CLIENT_ID: 'an-id', CLIENT_SECRET: 'hunter2' }
const corp = { ...credentials, ISSUER: 'https://id.corp.example' }

const from = (CLIENT_SECRET_FILE: string) => ({ CLIENT_ID: 'an-id', CLIENT_SECRET_FILE })

/** The environment with those providers. */
const providers = (settings: Record<string, Variables>): Variables =>
  Object.assign(
    { SVC_OAUTH_PROVIDERS: Object.keys(settings).join(',') },
    ...Object.entries(settings).map(([name, own]) => variablesOf(name, own)),
  )

/** One provider for each case, `t0` and so on, so that one start reports them all. */
const oneForEach = (cases: readonly (readonly [ending: string, value: string])[]): Variables =>
  providers(Object.fromEntries(cases.map(([ending, value], index) => [`t${index}`, { ...corp, [ending]: value }])))

const run = (t: TestContext, args: string[], env: Environment, cwd = temporaryDirectory(t)) =>
  runCommand({ args, cwd, env: { SVC_PORT: '0', ...env } })

/** The lines with which `svc serve` refuses to start, which never show a secret. */
const refusal = async (t: TestContext, env: Environment, cwd?: string): Promise<string[]> => {
  const { code, stdout, stderr } = await run(t, ['serve'], env, cwd)
  assert.equal(code, 78, stdout + stderr)
  assert.doesNotMatch(stdout + stderr, /hunter|PRIVATE KEY|\n\s+at |node:internal|\.ts:\d+/)
  return stderr.trimEnd().split('\n')
}

const subjectOf = (line: string): string | undefined => /^svc: (SVC_[A-Z0-9_]+)/.exec(line)?.[1]

const assertRefused = async (t: TestContext, env: Environment, variables: string[], cwd?: string) => {
  const lines = await refusal(t, env, cwd)
  assert.deepEqual(lines.map(subjectOf), variables, lines.join('\n'))
  return lines
}

/** The providers and the warnings of `svc config --json`. */
const accepted = async (t: TestContext, env: Environment, cwd?: string) => {
  const { code, stdout, stderr } = await run(t, ['config', '--json'], env, cwd)
  assert.equal(code, 0, stderr)
  assert.doesNotMatch(stdout + stderr, /hunter|PRIVATE KEY/)
  const all: Shown[] = JSON.parse(stdout)
  const shown = new Map(all.map((setting) => [setting.name, setting]))
  return { shown, warnings: stderr.split('\n').filter(Boolean) }
}

const ecKey = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
const { privateKey, publicKey } = ecKey('P-256')
const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const appleIds = { CLIENT_ID: 'com.example.web', TEAM_ID: 'ABCDE12345', KEY_ID: '12345ABCDE' }
const apple = { ...appleIds, CLIENT_SECRET: pkcs8 }

const TENANT_ID = '6babcaad-604b-40ac-a9d7-9fd97c0b779f'
/** Microsoft's UUID for the tenant of all personal accounts. */
const CONSUMERS_ID = '9188040d-6c67-4c5b-b112-36a304b66dad'

const presets = {
  google: ['Google', 'https://accounts.google.com', 'openid email profile'],
  github: ['GitHub', 'https://github.com', 'read:user user:email'],
  microsoft: ['Microsoft', 'https://login.microsoftonline.com/common/v2.0', 'openid email profile'],
  apple: ['Apple', 'https://appleid.apple.com', 'name email'],
  gitlab: ['GitLab', 'https://gitlab.com', 'openid email profile'],
  discord: ['Discord', 'https://discord.com', 'identify email'],
}

const badValues = [
  ['ISSUER', 'id.corp.example'],
  ['ISSUER', 'http://id.corp.example'],
  ['ISSUER', 'http://127.0.0.2'],
  ['ISSUER', 'http://localhost.corp.example'],
  ['ISSUER', 'http://localhost@id.corp.example'],
  ['ISSUER', 'ftp://id.corp.example'],
  ['ISSUER', 'https:id.corp.example'],
  ['ISSUER', 'https:///id.corp.example'],
  ['ISSUER', 'https://'],
  ['ISSUER', 'https://id.corp.example?x=1'],
  ['ISSUER', 'https://id.corp.example/?'],
  ['ISSUER', 'https://id.corp.example#x'],
  ['ISSUER', 'https://user:hunter2@id.corp.example'],
  ['ISSUER', 'https://id.corp.example\\x'],
  ['ISSUER', 'https://id.corp.example/a/../b'],
  ['ISSUER', 'https://id.corp.example/{tenant}'],
  ['ISSUER', 'https://ID.corp.example'],
  ['ISSUER', 'https://id.corp.example:443'],
  ['ISSUER', 'https://id.corp.example:99999'],
  ['ISSUER', ' https://id.corp.example'],
  ['ISSUER', 'https://id.corp.example\n'],
  ['SCOPES', 'email profile'],
  ['SCOPES', 'OPENID'],
  ['SCOPES', ' , '],
  ['SCOPES', 'openid\temail'],
  ['SCOPES', 'openid "email"'],
  ['SCOPES', 'openid é'],
  ['LABEL', 'x'.repeat(41)],
  ['LABEL', 'a\nb'],
  ['ICON_URL', 'javascript:alert(1)'],
  ['ICON_URL', '//elsewhere.example/x.svg'],
  ['ICON_URL', 'data:image/png;base64,AAAA'],
  ['ALLOWED_DOMAINS', 'example'],
  ['ALLOWED_DOMAINS', '@example.com'],
  ['ALLOWED_DOMAINS', 'ada@example.com'],
  ['ALLOWED_DOMAINS', '*.example.com'],
  ['ALLOWED_DOMAINS', 'example.com,'],
  ['ALLOWED_DOMAINS', 'example.com.'],
  ['ALLOWED_DOMAINS', 'a..example.com'],
  ['ALLOWED_DOMAINS', '-a.example.com'],
  ['ALLOWED_DOMAINS', '10.0.0.1'],
  ['ALLOWED_DOMAINS', `${'x'.repeat(64)}.example.com`],
  ['ALLOWED_DOMAINS', 'bücher.example'],
  ['TRUST_EMAIL', 'yes'],
  ['TRUST_EMAIL', 'true'],
  ['CLIENT_ID', ' an-id'],
  ['CLIENT_ID', 'an\nid'],
  ['CLIENT_ID', 'x'.repeat(513)],
  ['CLIENT_SECRET', 'hunter2 '],
  ['CLIENT_SECRET', 'hunter\n2'],
] as const

const goodValues = [
  ['ISSUER', 'https://id.corp.example/'],
  ['ISSUER', 'https://id.corp.example/realms/a%20b'],
  ['ISSUER', 'https://id.corp.example:8443/x/'],
  ['ISSUER', 'http://localhost'],
  ['ISSUER', 'http://localhost:9000/x'],
  ['ISSUER', 'http://127.0.0.1:9000'],
  ['ISSUER', 'http://[::1]:9000'],
  ['SCOPES', 'openid'],
  ['SCOPES', 'openid,email, https://corp.example/scope'],
  ['LABEL', 'Ärger & Söhne'],
  ['LABEL', 'x'.repeat(40)],
  ['ICON_URL', '/icons/corp.svg'],
  ['ICON_URL', 'https://cdn.corp.example/icon.svg?v=2'],
  ['ALLOWED_DOMAINS', 'Example.com, corp-1.example.co.uk,xn--bcher-kva.example'],
  ['TRUST_EMAIL', 'on'],
  ['TRUST_EMAIL', 'off'],
  ['CLIENT_ID', 'x'.repeat(512)],
  ['CLIENT_ID', 'an id'],
] as const

describe('§8.2 settings of external providers', { concurrency: 3 }, () => {
  test('a known provider needs its credentials only; svc config shows its label, issuer and scopes', async (t) => {
    const known = Object.keys(presets).map((name) => [name, name === 'apple' ? apple : credentials] as const)
    const { shown, warnings } = await accepted(t, providers(Object.fromEntries(known)))
    assert.deepEqual(warnings, [])
    for (const [name, expected] of Object.entries(presets)) {
      const begin = `SVC_OAUTH_${name.toUpperCase()}_`
      const found = ['LABEL', 'ISSUER', 'SCOPES'].map((ending) => shown.get(`${begin}${ending}`))
      assert.deepEqual(
        found.map((setting) => [setting?.value, setting?.source]),
        expected.map((value) => [value, 'default']),
      )
      const secret = shown.get(`${begin}CLIENT_SECRET`)
      assert.deepEqual([secret?.value, secret?.source, secret?.secret], [null, 'environment', true])
      assert.equal(shown.get(`${begin}CLIENT_ID`)?.source, 'environment')
    }
  })

  test('any other name is an OpenID Connect issuer, shown as its name with a capital', async (t) => {
    const cwd = temporaryDirectory(t)
    writeFileSync(path.join(cwd, '.env'), 'SVC_OAUTH_CONSTRUCTOR_LABEL=From the file\n')
    const env = providers({ 'my-corp': corp, constructor: corp, ['a'.repeat(32)]: corp })
    const { code, stdout, stderr } = await run(t, ['config'], env, cwd)
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /^SVC_OAUTH_MY_CORP_LABEL +My corp +default$/m)
    assert.match(stdout, /^SVC_OAUTH_MY_CORP_SCOPES +openid email profile +default$/m)
    assert.match(stdout, /^SVC_OAUTH_MY_CORP_ISSUER +https:\/\/id\.corp\.example +environment$/m)
    assert.match(stdout, /^SVC_OAUTH_MY_CORP_CLIENT_SECRET +\(hidden\) +environment$/m)
    assert.match(stdout, /^SVC_OAUTH_MY_CORP_TRUST_EMAIL +off +default$/m)
    assert.match(stdout, /^SVC_OAUTH_CONSTRUCTOR_LABEL +From the file +\.env$/m)
    assert.doesNotMatch(stdout, /hunter/)
  })

  test('every value that is not accepted has a line that says what is accepted, and no other value has one', async (t) => {
    const variables = badValues.map(([ending], index) => `SVC_OAUTH_T${index}_${ending}`)
    const lines = await assertRefused(t, oneForEach(badValues), variables)
    for (const line of lines) assert.match(line, / is not accepted: .{10}/)
    const scopes = lines.find((line) => line.includes('_SCOPES="email profile"'))
    assert.match(scopes ?? '', /it must include openid$/)
  })

  test('every value that is accepted is shown as it was given, a URL without its query', async (t) => {
    const { shown, warnings } = await accepted(t, oneForEach(goodValues))
    assert.deepEqual(warnings, [])
    for (const [index, [ending, value]] of goodValues.entries()) {
      assert.equal(shown.get(`SVC_OAUTH_T${index}_${ending}`)?.value, value.replace(/\?.+$/, '?…'))
    }
  })

  test('providers are read in the order of the list, scopes and domains one by one, and the key of Apple as PKCS #8', () => {
    const lists = { SCOPES: 'openid,email  x', ALLOWED_DOMAINS: 'Corp.example, b.example' }
    const own = { ...corp, ...lists, ISSUER: 'https://id.corp.example/', TRUST_EMAIL: 'on', ICON_URL: '/corp.svg' }
    const env = providers({ corp: own, apple: { ...apple, CLIENT_SECRET: pkcs8.replaceAll('\n', '\\n') } })
    const { oauthProviders, oauthTimeoutMs } = readConfig(env, () => '')
    assert.equal(oauthTimeoutMs, 5000)
    assert.deepEqual(oauthProviders, [
      {
        name: 'corp',
        kind: 'openid',
        label: 'Corp',
        iconUrl: '/corp.svg',
        clientId: 'an-id',
        clientSecret: 'hunter2',
        issuer: 'https://id.corp.example/',
        scopes: ['openid', 'email', 'x'],
        allowedDomains: ['corp.example', 'b.example'],
        trustsEmail: true,
        secondFactor: 'ask',
        apple: undefined,
      },
      {
        name: 'apple',
        kind: 'apple',
        label: 'Apple',
        iconUrl: undefined,
        clientId: 'com.example.web',
        clientSecret: pkcs8,
        issuer: 'https://appleid.apple.com',
        scopes: ['name', 'email'],
        allowedDomains: [],
        trustsEmail: false,
        secondFactor: 'ask',
        apple: { teamId: 'ABCDE12345', keyId: '12345ABCDE' },
      },
    ])
  })

  test('an incomplete provider is a mistake: each missing variable has a line, and an empty one counts as missing', async (t) => {
    const env = {
      ...providers({ google: {}, apple: {}, corp: {} }),
      SVC_OAUTH_GOOGLE_CLIENT_ID: 'an-id',
      SVC_PORT: 'x',
    }
    // As in a file that has a line for each.
    const empty = variablesOf('corp', { CLIENT_ID: '', CLIENT_SECRET: '', CLIENT_SECRET_FILE: '', ISSUER: '' })
    const google = ['SVC_OAUTH_GOOGLE_CLIENT_SECRET']
    const apple = ['CLIENT_ID', 'CLIENT_SECRET', 'TEAM_ID', 'KEY_ID'].map((ending) => `SVC_OAUTH_APPLE_${ending}`)
    const corp = ['CLIENT_ID', 'CLIENT_SECRET', 'ISSUER'].map((ending) => `SVC_OAUTH_CORP_${ending}`)
    const lines = await assertRefused(t, { ...env, ...empty }, ['SVC_PORT', ...google, ...apple, ...corp])
    for (const line of lines.slice(1)) assert.match(line, / is missing: .*SVC_OAUTH_PROVIDERS names "\w+": .{10}/)
    assert.match(lines.at(-1) ?? '', /google, github, microsoft, apple, gitlab, discord$/)
  })

  test('invalid names are reported, and hide no mistake of another provider', async (t) => {
    const bad = ['Google', '2fa', 'a b', 'a__b', 'a-', '_a', 'ä', 'x'.repeat(33), '']
    const names = [...bad, 'corp', 'google', 'corp', 'my-corp', 'my_corp']
    const env = {
      ...providers({ google: credentials, corp: {}, 'my-corp': corp }),
      SVC_OAUTH_PROVIDERS: names.join(', '),
    }
    const missing = ['CLIENT_ID', 'CLIENT_SECRET', 'ISSUER'].map((ending) => `SVC_OAUTH_CORP_${ending}`)
    const [line = ''] = await assertRefused(t, env, ['SVC_OAUTH_PROVIDERS', ...missing])
    for (const name of bad) assert.ok(line.includes(`${JSON.stringify(name)} is not a valid provider name`), name)
    assert.ok(line.includes('"corp" is listed twice'), line)
    assert.ok(line.includes('"my-corp" and "my_corp" have the same variables'), line)
    assert.doesNotMatch(line, /"google"/)
    assert.match(line, /comma-separated names such as google/)
  })

  test('a secret may come from a file, but not from both, nor from a file that is empty or missing', async (t) => {
    const cwd = temporaryDirectory(t)
    writeFileSync(path.join(cwd, 'secret'), 'hunter2\n')
    writeFileSync(path.join(cwd, 'empty'), '\n')
    const good = await accepted(t, providers({ google: from('secret') }), cwd)
    const shown = good.shown.get('SVC_OAUTH_GOOGLE_CLIENT_SECRET_FILE')
    assert.deepEqual([shown?.value, shown?.source, good.warnings], [null, 'environment', []])
    const both = { ...credentials, CLIENT_SECRET_FILE: 'secret' }
    const env = providers({ google: both, github: from('nowhere'), gitlab: from('empty') })
    const lines = await assertRefused(
      t,
      env,
      ['SVC_OAUTH_GOOGLE_CLIENT_SECRET', 'SVC_OAUTH_GITHUB_CLIENT_SECRET_FILE', 'SVC_OAUTH_GITLAB_CLIENT_SECRET_FILE'],
      cwd,
    )
    assert.match(lines[0] ?? '', /SVC_OAUTH_GOOGLE_CLIENT_SECRET_FILE are both set/)
  })

  const sec1 = privateKey.export({ type: 'sec1', format: 'pem' }).toString()
  const goodKeys = [
    ['PEM', 'CLIENT_SECRET', pkcs8],
    ['PEM with \\n for line ends', 'CLIENT_SECRET', pkcs8.replaceAll('\n', '\\n')],
    ['the name of a file with PEM', 'CLIENT_SECRET_FILE', 'key.p8'],
    ['the name of a file with PEM as openssl writes it', 'CLIENT_SECRET_FILE', 'key.pem'],
  ] as const
  for (const [title, ending, value] of goodKeys) {
    test(`Apple: SVC_OAUTH_APPLE_${ending} takes ${title}`, async (t) => {
      const cwd = temporaryDirectory(t)
      writeFileSync(path.join(cwd, 'key.p8'), pkcs8)
      writeFileSync(path.join(cwd, 'key.pem'), sec1)
      const { shown, warnings } = await accepted(t, providers({ apple: { ...appleIds, [ending]: value } }), cwd)
      const key = shown.get(`SVC_OAUTH_APPLE_${ending}`)
      assert.deepEqual([key?.value, key?.source, warnings], [null, 'environment', []])
    })
  }

  const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'hunter2' } as const
  const badKeys: Record<string, string> = {
    'no PEM': 'hunter2',
    'a public key': publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    'a key of another curve': ecKey('P-384').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    'a key with a passphrase': privateKey.export(encrypted).toString(),
  }
  for (const [title, key] of Object.entries(badKeys)) {
    test(`Apple: ${title} is refused, what is expected is said, and nothing of it is shown`, async (t) => {
      const wrong = { ...apple, CLIENT_SECRET: key, TEAM_ID: 'abcde12345', KEY_ID: '123456789' }
      const variables = ['CLIENT_SECRET', 'TEAM_ID', 'KEY_ID'].map((ending) => `SVC_OAUTH_APPLE_${ending}`)
      const lines = await assertRefused(t, providers({ apple: wrong }), variables)
      assert.match(lines[0] ?? '', /is not accepted: the ES256 private key from Apple .*\.p8/)
      for (const part of key.split('\n').filter((part) => part.length > 20)) assert.ok(!lines.join('').includes(part))
    })
  }

  for (const tenant of [TENANT_ID.toUpperCase(), 'corp.onmicrosoft.com', 'consumers']) {
    test(`Microsoft: the tenant ${tenant} makes the issuer`, async (t) => {
      const { shown, warnings } = await accepted(t, providers({ microsoft: { ...credentials, TENANT: tenant } }))
      const issuer = shown.get('SVC_OAUTH_MICROSOFT_ISSUER')?.value
      assert.equal(issuer, `https://login.microsoftonline.com/${tenant.toLowerCase()}/v2.0`)
      assert.deepEqual(warnings, [])
    })
  }

  test('Microsoft: another issuer replaces the tenant, and only one of them may be set', async (t) => {
    const ISSUER = `https://login.microsoftonline.us/${TENANT_ID}/v2.0`
    const { shown } = await accepted(t, providers({ microsoft: { ...credentials, ISSUER } }))
    assert.equal(shown.get('SVC_OAUTH_MICROSOFT_ISSUER')?.value, ISSUER)
    const both = providers({ microsoft: { ...credentials, ISSUER, TENANT: 'common' } })
    const [line = ''] = await assertRefused(t, both, ['SVC_OAUTH_MICROSOFT_ISSUER'])
    assert.match(line, /SVC_OAUTH_MICROSOFT_TENANT are both set/)
    const wrong = providers({ microsoft: { ...credentials, TENANT: 'a/b' } })
    await assertRefused(t, wrong, ['SVC_OAUTH_MICROSOFT_TENANT'])
  })

  test('SVC_OAUTH_X_TRUST_EMAIL is refused where anyone can have an account', async (t) => {
    const TRUST_EMAIL = 'on'
    const open = {
      google: { ...credentials, TRUST_EMAIL },
      github: { ...credentials, ISSUER: 'https://github.corp.example', TRUST_EMAIL },
      microsoft: { ...credentials, TRUST_EMAIL },
      apple: { ...apple, TRUST_EMAIL },
      gitlab: { ...credentials, TRUST_EMAIL },
      discord: { ...credentials, TRUST_EMAIL },
      lab: { ...corp, ISSUER: 'https://gitlab.com', TRUST_EMAIL },
      everybody: { ...corp, ISSUER: 'https://login.microsoftonline.com/common/v2.0', TRUST_EMAIL },
      private: { ...corp, ISSUER: `https://login.microsoftonline.com/${CONSUMERS_ID}/v2.0`, TRUST_EMAIL },
    }
    const variables = Object.keys(open).map((name) => `SVC_OAUTH_${name.toUpperCase()}_TRUST_EMAIL`)
    for (const line of await assertRefused(t, providers(open), variables)) {
      assert.match(line, /anyone can have an account there/)
    }
    for (const TENANT of ['organizations', CONSUMERS_ID.toUpperCase()]) {
      const microsoft = { ...credentials, TENANT, TRUST_EMAIL }
      await assertRefused(t, providers({ microsoft }), ['SVC_OAUTH_MICROSOFT_TRUST_EMAIL'])
    }
  })

  test('SVC_OAUTH_X_TRUST_EMAIL is accepted for a provider that an organisation runs itself', async (t) => {
    const TRUST_EMAIL = 'on'
    const own = {
      microsoft: { ...credentials, TENANT: TENANT_ID, TRUST_EMAIL },
      gitlab: { ...credentials, ISSUER: 'https://gitlab.corp.example', TRUST_EMAIL },
      tenant: { ...corp, ISSUER: `https://login.microsoftonline.com/${TENANT_ID}/v2.0`, TRUST_EMAIL },
      corp: { ...corp, ISSUER: 'https://id.corp.example/common', TRUST_EMAIL },
    }
    const { shown, warnings } = await accepted(t, providers(own))
    for (const name of Object.keys(own)) {
      assert.equal(shown.get(`SVC_OAUTH_${name.toUpperCase()}_TRUST_EMAIL`)?.value, 'on')
    }
    assert.deepEqual(warnings, [])
  })

  test('a variable of a provider that is not listed, or that a provider does not have, is a warning', async (t) => {
    const google = { ...credentials, CLIENTID: 'x', TENANT: 'common', LABEL_FILE: 'x' }
    const { warnings } = await accepted(t, {
      ...providers({ google }),
      ...variablesOf('github', { ...credentials, LABEL: '', CLIENT_SECRET_FILE: '' }),
      ...variablesOf('my-corp', { ISSUER: 'hunter2' }),
      SVC_OAUTH_PROVIDER: 'google',
    })
    assert.deepEqual(warnings.sort(), [
      'svc: warning: SVC_OAUTH_GITHUB_CLIENT_ID has no effect: SVC_OAUTH_PROVIDERS does not name "github"',
      'svc: warning: SVC_OAUTH_GITHUB_CLIENT_SECRET has no effect: SVC_OAUTH_PROVIDERS does not name "github"',
      'svc: warning: SVC_OAUTH_GOOGLE_CLIENTID is not a setting of svc; did you mean SVC_OAUTH_GOOGLE_CLIENT_ID?',
      'svc: warning: SVC_OAUTH_GOOGLE_LABEL_FILE is not a setting of svc',
      'svc: warning: SVC_OAUTH_GOOGLE_TENANT is not a setting of svc',
      'svc: warning: SVC_OAUTH_MY_CORP_ISSUER has no effect: SVC_OAUTH_PROVIDERS does not name "my_corp"',
      'svc: warning: SVC_OAUTH_PROVIDER is not a setting of svc; did you mean SVC_OAUTH_PROVIDERS?',
    ])
  })

  test('SVC_OAUTH_TIMEOUT limits each request, 5s by default; without providers svc config shows nothing more', async (t) => {
    const { shown, warnings } = await accepted(t, { SVC_OAUTH_PROVIDERS: '' })
    assert.equal(shown.get('SVC_OAUTH_TIMEOUT')?.value, '5s')
    const names = [...shown.keys()].filter((name) => name.startsWith('SVC_OAUTH_'))
    assert.deepEqual([names, warnings], [['SVC_OAUTH_PROVIDERS', 'SVC_OAUTH_TIMEOUT'], []])
    await assertRefused(t, { SVC_OAUTH_TIMEOUT: '5' }, ['SVC_OAUTH_TIMEOUT'])
  })
})
