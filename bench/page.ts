// The login page against bare node:http with the same response bytes, and the bytes of a first visit; the page in another
// language against the one in English.
import { bench } from './support/bench.ts'
import { type RawResponse, sendRequest } from './support/connection.ts'
import { pinTo } from './support/cores.ts'
import { limitRow, ratioRow } from './support/report.ts'
import { createTarget, measureInTurn, rates } from './support/rounds.ts'
import { startConstant, startService } from './support/servers.ts'
import { constantClient, get, getFile } from './support/users.ts'

const CLIENTS = 64
const KB = 1000
const FIRST_PAINT_KB = 14

const germanLike = (request: string): string => request.replace('\r\n\r\n', '\r\nAccept-Language: de\r\n\r\n')

await bench('The login page', async (run) => {
  pinTo('second')
  const service = run.use(await startService({ folder: await run.newFolder(), cores: 'first' }))
  const request = get('/auth/login')
  const http = run.use(await startConstant({ like: service, request, cores: 'first' }))

  const clients = Array.from({ length: CLIENTS }, () => constantClient(request))
  const bare = createTarget(http, clients)
  const svc = createTarget(service, clients)
  const inGerman = createTarget(
    service,
    Array.from({ length: CLIENTS }, () => constantClient(germanLike(request))),
  )
  await measureInTurn(run, run.duration(2000), [bare, svc, inGerman])

  const page = await sendRequest(service.port, request)
  const stylesheets = await fetchStylesheets(service.port, page)
  const sizeKb = [page, ...stylesheets].reduce((sum, { head, body }) => sum + head.length + body.length, 0) / KB
  run.note('A first visit, without cookies; server on one core, load client on the other.')
  return [
    ratioRow('against bare node:http', { unit: '/s', svc: rates(svc), baseline: rates(bare), goal: { atLeast: 0.75 } }),
    ratioRow('in another language against English', {
      unit: '/s',
      svc: rates(inGerman),
      baseline: rates(svc),
      goal: { atLeast: 0.91 },
    }),
    limitRow('page and stylesheet, headers included', { unit: 'kB', svc: sizeKb, goal: { atMost: FIRST_PAINT_KB } }),
    limitRow('stylesheets to fetch before the first paint', {
      unit: '',
      svc: stylesheets.length,
      goal: { atMost: 1 },
    }),
    limitRow('stylesheets without a long cache lifetime', {
      unit: '',
      svc: stylesheets.filter(({ head }) => !/\r\ncache-control:[^\r]*(?:immutable|max-age=\d{6,})/i.test(head)).length,
      goal: { atMost: 0 },
    }),
  ]
})

async function fetchStylesheets(port: number, page: RawResponse): Promise<RawResponse[]> {
  const links = page.body.toString().matchAll(/<link\b[^>]*rel="stylesheet"[^>]*>/g)
  const paths = [...links].map(([link]) => /href="([^"]+)"/.exec(link)?.[1] ?? '')
  const responses = await Promise.all(paths.map((path) => sendRequest(port, getFile(path))))
  const missing = responses.find(({ status }) => status !== 200)
  if (missing) throw new Error(`a stylesheet of the login page answers ${missing.status}`)
  return responses
}
