// Runs on SQLite.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { CLIENT_SETTINGS } from '../../support/clients/authorization.ts'
import { type Metrics, startMeteredService } from '../../support/service/metrics.ts'

type Datasource = { type: string; uid: string }
type Target = { refId: string; expr: string; legendFormat: string; datasource: Datasource }
type Panel = {
  id: number
  type: string
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  datasource?: Datasource
  targets?: Target[]
  fieldConfig?: { defaults: { unit: string } }
}
type Variable = { name: string; type: string; query: string | { query: string } }
type Dashboard = {
  id: null
  uid: string
  title: string
  schemaVersion: number
  panels: Panel[]
  templating: { list: Variable[] }
}

const readDashboard = (): Dashboard =>
  JSON.parse(readFileSync(new URL('../../../docs/grafana-dashboard.json', import.meta.url), 'utf8'))

const dashboard = readDashboard()
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? [])
const variables = dashboard.templating.list
const queries = [
  ...targets.map(({ expr }) => expr),
  ...variables.map(({ query }) => (typeof query === 'string' ? '' : query.query)),
]

/** A metric's name with the conditions on its labels: `name{label="value"}`. */
const SELECTOR = /\b((?:svc|nodejs|process)_[a-z0-9_]+)(?:\{([^}]*)\})?/g
const MATCHER = /([a-z_]+)(=~|!~|!=|=)"([^"]*)"/g

const selectorsOf = (query: string) =>
  [...query.matchAll(SELECTOR)].map(([, name = '', matchers = '']) => ({
    name,
    matchers: [...matchers.matchAll(MATCHER)].map(([, label = '', , value = '']) => ({ label, value })),
  }))

/** Names of metrics in a query that the service does not have. */
const findUntold = (query: string, { types }: Metrics): string[] =>
  selectorsOf(query)
    .map(({ name }) => name)
    .filter((name) => !types.has(name) && types.get(name.replace(/_(?:bucket|sum|count)$/, '')) !== 'histogram')

/** Label values in a query that never occur, except variables and those that Prometheus adds. */
const findUnknownValues = (query: string, { samples }: Metrics): string[] =>
  selectorsOf(query).flatMap(({ name, matchers }) =>
    matchers
      .filter(({ value }) => !/[$.]/.test(value))
      .filter(({ label, value }) => !samples.some((sample) => sample.name === name && sample.labels[label] === value))
      .map(({ label, value }) => `${name}{${label}="${value}"}`),
  )

/** The expressions that docs/logs-and-metrics.md names as worth an alarm. */
const readAlarms = (): string[] => {
  const text = readFileSync(new URL('../../../docs/logs-and-metrics.md', import.meta.url), 'utf8')
  const [, table = ''] = /^Suggested alarms:\n\n((?:\|.*\n)+)/m.exec(text) ?? []
  return [...table.matchAll(/^\| `(.+?)` \|/gm)].map(([, expression = '']) => expression.replaceAll('\\|', '|'))
}

const overlap = ({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

describe('docs/grafana-dashboard.json', () => {
  let metrics: Metrics

  before(async () => {
    const service = await startMeteredService({ env: CLIENT_SETTINGS })
    await signedUp(service)
    metrics = await service.scrape()
  })

  test('every metric that it uses exists in the service, and so does every value of a label', () => {
    assert.ok(queries.length > 25)
    assert.deepEqual(
      queries.flatMap((query) => findUntold(query, metrics)),
      [],
    )
    assert.deepEqual(
      queries.flatMap((query) => findUnknownValues(query, metrics)),
      [],
    )
  })

  test('every alarm of docs/logs-and-metrics.md uses existing metrics, and some notice that there are none', () => {
    const alarms = readAlarms()
    assert.ok(alarms.length >= 9)
    assert.deepEqual(
      alarms.flatMap((query) => findUntold(query, metrics)),
      [],
    )
    assert.ok(alarms.includes('absent(svc_build_info)'))
    assert.ok(alarms.some((query) => /^up\{job="svc"\} == 0$/.test(query)))
    // The job has the name in the configuration beside it.
    assert.match(
      readFileSync(new URL('../../../docs/logs-and-metrics.md', import.meta.url), 'utf8'),
      /^ {2}- job_name: svc$/m,
    )
  })

  test('a missing metric is found', () => {
    const query = 'sum(rate(svc_nothing_total{a="b"}[1m])) + svc_logins_total{outcome="magic"} + svc_logins_count'
    assert.deepEqual(findUntold(query, metrics), ['svc_nothing_total', 'svc_logins_count'])
    assert.deepEqual(findUnknownValues(query, metrics), [
      'svc_nothing_total{a="b"}',
      'svc_logins_total{outcome="magic"}',
    ])
  })

  test('every metric of the service is shown in it', () => {
    const shown = new Set(queries.flatMap(selectorsOf).map(({ name }) => name.replace(/_(?:bucket|sum|count)$/, '')))
    const own = [...metrics.types.keys()].filter((name) => name.startsWith('svc_'))
    assert.deepEqual(
      own.filter((name) => !shown.has(name)),
      [],
    )
  })

  test('it has the shape that Grafana imports', () => {
    assert.equal(dashboard.id, null, 'a new dashboard')
    assert.ok(dashboard.schemaVersion >= 39)
    assert.match(dashboard.uid, /^[\w-]{1,40}$/)
    assert.equal(dashboard.title, 'svc')
    const ids = dashboard.panels.map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
    const panels = dashboard.panels.filter(({ type }) => type !== 'row')
    for (const { type, title, datasource, targets: own = [], fieldConfig } of panels) {
      assert.ok(['stat', 'timeseries'].includes(type), title)
      assert.ok(fieldConfig?.defaults.unit, title)
      assert.deepEqual(datasource, { type: 'prometheus', uid: '${datasource}' })
      assert.ok(own.length > 0, title)
      assert.equal(new Set(own.map(({ refId }) => refId)).size, own.length, title)
      for (const target of own) assert.deepEqual(target.datasource, datasource, title)
    }
  })

  test('panels fit in the 24 columns and do not overlap', () => {
    for (const panel of dashboard.panels) {
      const { x, y, w, h } = panel.gridPos
      assert.ok(x >= 0 && y >= 0 && w > 0 && h > 0 && x + w <= 24, panel.title)
      const others = dashboard.panels.filter((other) => other !== panel && overlap(panel, other))
      assert.deepEqual(
        others.map(({ title }) => title),
        [],
        panel.title,
      )
    }
  })

  test('the data source is a variable, and every query is limited to the chosen job and instances', () => {
    assert.deepEqual(
      variables.map(({ name, type }) => [name, type]),
      [
        ['datasource', 'datasource'],
        ['job', 'query'],
        ['instance', 'query'],
      ],
    )
    assert.equal(variables[0]?.query, 'prometheus')
    for (const { expr } of targets)
      for (const { name, matchers } of selectorsOf(expr)) {
        const chosen = matchers.map(({ label, value }) => `${label} ${value}`)
        assert.ok(chosen.includes('job $job') && chosen.includes('instance $instance'), `${name}: ${expr}`)
      }
  })
})
