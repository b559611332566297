import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type Answer, createUserAgent } from '../client/user-agent.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import type { Environment } from './command.ts'
import { type Service, startService } from './service.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'

type Labels = Record<string, string>
type Sample = { name: string; labels: Labels; value: number }

/** The text that Prometheus would read. */
export type Metrics = {
  text: string
  /** The type of each metric, by its name. */
  types: Map<string, string>
  helps: Map<string, string>
  samples: Sample[]
  /** The sum of all samples with this name and these labels; undefined if there are none. */
  value(name: string, labels?: Labels): number | undefined
}

type Metered<S extends Service> = S & {
  metricsPort: number
  /** Scrapes the metrics like Prometheus, and parses every line. */
  scrape(): Promise<Metrics>
  /** One request to the listener of the metrics. */
  askMetrics(method: string, path: string): Promise<Answer>
}

export type MeteredService = Metered<Service>

const COMMENT = /^# (HELP|TYPE) ([a-z_][a-z0-9_]*) (.+)$/
const SAMPLE = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (-?[\d.e+-]+|[+-]Inf|Nan)$/i
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)",?/gy

const readLabels = (text: string): Labels => {
  const labels = [...text.matchAll(LABEL)]
  assert.equal(labels.map(([whole]) => whole).join(''), text, 'labels are well-formed')
  return Object.fromEntries(labels.map(([, name = '', value = '']) => [name, value]))
}

const isWith = (labels: Labels) => (sample: Sample) =>
  Object.entries(labels).every(([name, value]) => sample.labels[name] === value)

/** Parses the text format of Prometheus. Fails on any other line. */
const readMetrics = (text: string): Metrics => {
  const comments = { HELP: new Map<string, string>(), TYPE: new Map<string, string>() }
  const samples: Sample[] = []
  for (const line of text.split('\n').filter(Boolean)) {
    const [, kind, described = '', words = ''] = COMMENT.exec(line) ?? []
    if (kind === 'HELP' || kind === 'TYPE') {
      assert.ok(!comments[kind].has(described), `${kind} of ${described} comes once`)
      comments[kind].set(described, words)
      continue
    }
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
    assert.ok(name !== undefined && value !== undefined, line)
    samples.push({ name, labels: readLabels(labels), value: Number(value) })
  }
  return {
    text,
    types: comments.TYPE,
    helps: comments.HELP,
    samples,
    value: (name, labels = {}) => {
      const found = samples.filter((sample) => sample.name === name).filter(isWith(labels))
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
    },
  }
}

// Below the ports of outgoing connections, so that the port is still free when the service starts.
const PORTS = [10_240, 32_000] as const

type Options = { t?: TestContext; env?: Environment; fullHashes?: boolean }

const startSomewhere = async <S extends Service>(
  start: (options: Options) => Promise<S>,
  options: Options,
  tries = 5,
): Promise<[S, metricsPort: number]> => {
  const port = randomInt(...PORTS)
  const env = { ...options.env, SVC_METRICS_PORT: String(port) }
  try {
    return [await start({ ...options, env }), port]
  } catch (error) {
    if (tries === 0 || !String(error).includes(String(port))) throw error
    return startSomewhere(start, options, tries - 1)
  }
}

const startMetered = async <S extends Service>(
  start: (options: Options) => Promise<S>,
  options: Options,
): Promise<Metered<S>> => {
  const [service, metricsPort] = await startSomewhere(start, options)
  const agent = createUserAgent({ url: `http://localhost:${metricsPort}` })
  const askMetrics = (method: string, path: string) =>
    agent.send({ method, path, headers: { connection: 'close', cookie: [] } })
  return Object.assign(service, {
    metricsPort,
    askMetrics,
    scrape: async () => {
      const { status, text } = await askMetrics('GET', '/auth/metrics')
      assert.equal(status, 200, text)
      return readMetrics(text)
    },
  })
}

/** Starts a service with metrics on a free port. */
export const startMeteredService = (options: Options & { clock?: TurnedClock } = {}): Promise<MeteredService> =>
  startMetered(startService, options)

/** The same as a separate process. */
export const startMeteredProcess = (options: Options = {}): Promise<Metered<ServiceProcess>> =>
  startMetered(startServiceProcess, options)
