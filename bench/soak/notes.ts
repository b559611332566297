import type { Run } from '../support/bench.ts'
import { growth, type Sample } from './samples.ts'

/** What may be 1.1 times as much at the end and is still called flat: medians of samples vary. */
const FLAT = 1.1

interface Outcome {
  most: number
  share: number
  slowConnections: number
  failures: string[]
  receivers: { counts: () => { events: number; messages: number } }
}

/** The notes below the table of a soak. */
export function describeSoak(
  { note }: Run,
  samples: Sample[],
  { most, share, slowConnections, failures, receivers }: Outcome,
): void {
  const hours = samples.reduce((sum, { seconds }) => sum + seconds, 0) / 3600
  const requests = samples.reduce((sum, each) => sum + each.requests, 0)
  const { events, messages } = receivers.counts()
  note(
    `${hours.toFixed(2)} hours with ${Math.round(requests / hours / 3600).toLocaleString('en')} requests/s, ` +
      `${Math.round(share * 100)} % of the ${Math.round(most).toLocaleString('en')} that the same load reaches on these ` +
      'cores, which it shares.',
  )
  note(
    'Visits with a login, 200 GET /user, 10 refreshes, the account page and a logout; signups, deletions, wrong ' +
      `passwords, resets; four requests a second that are refused, and ${slowConnections} slow connections. Limits are on.`,
  )
  note(`${events.toLocaleString('en')} webhooks and ${messages.toLocaleString('en')} messages arrived.`)
  note(
    `${failures.length} of ${requests.toLocaleString('en')} requests failed${failures[0] ? `: ${failures[0]}` : ''}.`,
  )
  const flat = (figure: (sample: Sample) => number): string => {
    const grown = growth(samples, figure)
    return `${grown.toFixed(2)} × (${grown <= FLAT ? 'flat' : 'NOT FLAT'})`
  }
  note(
    `The last quarter against the second: memory ${flat(({ residentMb }) => residentMb)}, descriptors ` +
      `${flat(({ descriptors }) => descriptors)}, write-ahead log ${flat(({ walMb }) => walMb)}.`,
  )
}
