// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { assertTimeToStop, containerFile, readDeployment, readSettings } from '../support/deploy/deployment.ts'

interface Container {
  environment?: Record<string, string>
  networks: string[]
  ports?: string[]
  stop_grace_period?: string
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  ulimits?: { core: number }
}

interface Compose {
  services: Record<'svc' | 'application' | 'caddy', Container> & Record<string, Container>
  networks: { inside: { ipam: { config: { subnet: string }[] } } }
}

const FILES: Record<string, string> = {
  '/run/secrets/database_url': 'postgres://svc:password@postgres:5432/svc?sslmode=disable',
  '/run/secrets/svc_secret': '9f8a1c3e5b7d2046f1e3d5c7b9a80246135798acebdf0213f4e6d8cab1907f35',
}

const compose = (name: string): Compose =>
  parse(readDeployment(`compose/${name}.yaml`).replaceAll(/\$\{DOMAIN(?::\?[^}]*)?\}/g, 'example.com')) as Compose

for (const [name, kind] of [
  ['sqlite', 'sqlite'],
  ['postgres', 'postgres'],
] as const) {
  describe(`Compose with ${name}`, () => {
    const { services, networks } = compose(name)
    const { svc } = services
    const config = readSettings({ ...containerFile().environment, ...svc.environment }, FILES)

    test('sets what the service needs', () => {
      assert.equal(config.database.kind, kind)
      assert.equal(config.baseUrl, 'https://example.com')
      const { subnet = '' } = networks.inside.ipam.config[0] ?? {}
      assert.equal(svc.environment?.SVC_TRUST_PROXY, subnet)
    })

    test('confines the service, which only the proxy reaches from outside', () => {
      assert.equal(svc.read_only, true)
      assert.deepEqual(svc.cap_drop, ['ALL'])
      assert.deepEqual(svc.security_opt, ['no-new-privileges:true'])
      assert.equal(svc.ulimits?.core, 0)
      const reachable = Object.entries(services).filter(([, { ports }]) => ports)
      assert.deepEqual(
        reachable.map(([service]) => service),
        ['caddy'],
      )
    })

    test('gives a stop enough time', () => {
      assertTimeToStop(Number.parseInt(svc.stop_grace_period ?? '', 10), config)
    })
  })
}
