// Runs once.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { Deployment } from 'kubernetes-models/apps/v1'
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import { parseAllDocuments } from 'yaml'
import { assertTimeToStop, containerFile, readDeployment, readSettings } from '../support/deploy/deployment.ts'
import { routeTable } from '../support/service/route-table.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const KINDS = { Deployment, Service, PodDisruptionBudget, NetworkPolicy, Ingress }
const MODULES = {
  Deployment: 'kubernetes-models/apps/v1',
  Service: 'kubernetes-models/v1',
  PodDisruptionBudget: 'kubernetes-models/policy/v1',
  NetworkPolicy: 'kubernetes-models/networking.k8s.io/v1',
  Ingress: 'kubernetes-models/networking.k8s.io/v1',
}
const SECRETS: Record<string, string> = {
  secret: '9f8a1c3e5b7d2046f1e3d5c7b9a80246135798acebdf0213f4e6d8cab1907f35',
  'database-url': 'postgres://svc:PASSWORD@HOST:5432/svc?sslmode=verify-full&sslrootcert=/etc/svc/database-ca.pem',
}

interface Manifest {
  kind: keyof typeof KINDS
}

const manifests: Manifest[] = parseAllDocuments(readDeployment('kubernetes/svc.yaml')).map((document) =>
  document.toJS(),
)

const find = (wanted: keyof typeof KINDS): Manifest => manifests.find(({ kind }) => kind === wanted) ?? assert.fail()

const { spec } = find('Deployment') as Deployment
const pod = spec?.template.spec ?? assert.fail()
const [container = assert.fail()] = pod.containers
const labels = spec?.template.metadata?.labels

/** Errors of the compiler about manifests that are declared with the types of Kubernetes, unknown keys included. */
const findTypeErrors = (values: readonly Manifest[]): string => {
  // Below this repository, where the compiler finds the types.
  const cache = path.join(ROOT, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(path.join(cache, 'manifests-'))
  try {
    const lines = values.map(
      (value, index) =>
        `import type { I${value.kind} as K${index} } from '${MODULES[value.kind]}'\n` +
        `export const m${index}: K${index} = ${JSON.stringify(value)}\n`,
    )
    const file = path.join(folder, 'manifests.mts')
    writeFileSync(file, lines.join(''))
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext', '--types', '']
    const { stdout } = spawnSync(path.join(ROOT, 'node_modules/.bin/tsc'), [...options, file], { encoding: 'utf8' })
    return stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('the Kubernetes manifests', () => {
  test('have the values that Kubernetes takes, and no key that it does not know', () => {
    for (const manifest of manifests) new KINDS[manifest.kind](manifest as never).validate()
    assert.equal(findTypeErrors(manifests), '')
    const misspelt = structuredClone(find('Deployment')) as Deployment
    Object.assign(misspelt.spec?.template.spec?.containers[0] ?? {}, { livenessProb: {} })
    assert.match(findTypeErrors([misspelt]), /livenessProb/)
  })

  test('set what the service needs', () => {
    const environment = (container.env ?? []).map(({ name, value, valueFrom }): [string, string] => [
      name,
      value ?? SECRETS[valueFrom?.secretKeyRef?.key ?? ''] ?? assert.fail(name),
    ])
    const [mounted] = (container.volumeMounts ?? []).filter(({ name }) => name === 'database-ca')
    const files = { [`${mounted?.mountPath}/database-ca.pem`]: 'PEM' }
    const config = readSettings({ ...containerFile().environment, ...Object.fromEntries(environment) }, files)
    assert.equal(config.database.kind, 'postgres')
    const ports = Object.fromEntries((container.ports ?? []).map(({ name, containerPort }) => [name, containerPort]))
    assert.deepEqual(ports, { http: config.port, metrics: config.metricsPort })
    assertTimeToStop(pod.terminationGracePeriodSeconds ?? 0, config)
  })

  test('probe routes that exist, and replace a replica only by one that is ready', () => {
    const routes = routeTable('any').map((route) => route.path)
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe])
      assert.ok(routes.includes(probe?.httpGet?.path as never), probe?.httpGet?.path)
    assert.equal(container.readinessProbe?.httpGet?.path, '/auth/ready')
    assert.deepEqual(spec?.strategy?.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 })
    assert.ok((spec?.replicas ?? 0) > Number((find('PodDisruptionBudget') as PodDisruptionBudget).spec?.minAvailable))
  })

  test('select the pods that they make', () => {
    assert.deepEqual(spec?.selector.matchLabels, labels)
    assert.deepEqual((find('Service') as Service).spec?.selector, labels)
    assert.deepEqual((find('PodDisruptionBudget') as PodDisruptionBudget).spec?.selector?.matchLabels, labels)
  })

  test('let the ingress controller and the application reach the service, and Prometheus alone the metrics', () => {
    const { podSelector, policyTypes, ingress } = (find('NetworkPolicy') as NetworkPolicy).spec ?? assert.fail()
    assert.deepEqual([podSelector?.matchLabels, policyTypes], [labels, ['Ingress']])
    const reached = (ingress ?? []).map(({ from, ports }) => [
      ports?.map(({ port }) => port),
      from?.map(({ namespaceSelector }) => namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name']),
    ])
    assert.deepEqual(reached, [
      [['http'], ['ingress-nginx', 'default']],
      [['metrics'], ['monitoring']],
    ])
  })

  test('lead from outside to svc, but for what only the proxy and the backend may ask', () => {
    const paths = (find('Ingress') as Ingress).spec?.rules?.[0]?.http?.paths ?? []
    assert.deepEqual(
      paths.map(({ path: prefix, backend }) => [prefix, backend.service?.name]),
      [
        ['/auth/check', 'svc-closed'],
        ['/auth/api/v2', 'svc-closed'],
        ['/.well-known/oauth-authorization-server/auth', 'svc'],
        ['/.well-known/openid-configuration/auth', 'svc'],
        ['/auth', 'svc'],
      ],
    )
    const services = manifests.filter(({ kind }) => kind === 'Service') as Service[]
    assert.deepEqual(
      services.map(({ metadata, spec: service }) => [metadata?.name, service?.selector !== undefined]),
      [
        ['svc', true],
        ['svc-closed', false],
      ],
    )
  })

  test('confine the container to the user of the image, without privileges', () => {
    assert.equal(pod.securityContext?.runAsUser, containerFile().user)
    assert.equal(pod.securityContext?.runAsNonRoot, true)
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })
})
