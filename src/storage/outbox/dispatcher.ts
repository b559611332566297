import type { Log } from '../../lib/log.ts'

/** A process looks at this interval for rows of other processes, and for retries that are due. */
const POLL_MS = 1000

/** Hands due rows of an outbox over, in the background. */
export interface Dispatcher {
  start(): void
  /** Looks for due rows before the next poll, once it has been started. */
  wake(): void
  /** Begins no more attempts; resolves when those under way have ended, or were aborted after `patienceMs`. */
  stop(patienceMs: number): Promise<void>
  /** Makes due attempts until there are none left, or a result cannot be stored. */
  runDue(): Promise<void>
}

/** A turn lasts from the first due row until none is left. */
export interface Turn<Row> {
  /** Makes one attempt. It resolves to true if its result is stored; it never rejects. */
  handle(row: Row): Promise<boolean>
  /** Tells whether another process may have taken over, so that no more attempts may begin here. */
  isOver?(): boolean
  end?(): Promise<void>
}

interface DispatcherDeps<Row> {
  /** The outbox has this name in the log. */
  name: string
  log: Log
  /** This is the greatest number of attempts at the same time. */
  atOnce: number
  findDue: (limit: number) => Promise<Row[]>
  /** Resolves to undefined while another process has the turn. The signal ends an attempt early. */
  beginTurn: (signal: AbortSignal) => Promise<Turn<Row> | undefined>
  /** This is the time between the commit of a row and the look for it; there is none if it is left out. */
  wakeAfterMs?: () => number
}

export const createDispatcher = <Row>(deps: DispatcherDeps<Row>): Dispatcher => {
  const { name, log, atOnce, findDue, beginTurn, wakeAfterMs } = deps
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let waking: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isStopped = false
  /** This tells whether rows may have become due since the last look. */
  let lookAgain = false
  let woken = Promise.withResolvers<void>()

  const mayLook = (): boolean => lookAgain && !isStopped

  const findOrReport = (limit: number): Promise<Row[]> =>
    findDue(limit).catch((error: unknown) => {
      log.error({ err: error }, `${name} outbox cannot be read`)
      return []
    })

  const handleDue = async (turn: Turn<Row>, find: typeof findDue): Promise<void> => {
    const underWay = new Set<Promise<void>>()
    const handle = async (row: Row): Promise<void> => {
      // A row whose result could not be stored (the disk is full) is due again at once: the next poll takes it.
      if (await turn.handle(row)) lookAgain = true
    }
    const begin = (row: Row): void => {
      const handling = handle(row).finally(() => underWay.delete(handling))
      underWay.add(handling)
    }
    try {
      do {
        lookAgain = false
        const places = isStopped || turn.isOver?.() ? 0 : atOnce - underWay.size
        if (places > 0) for (const row of await find(places)) begin(row)
        while (!mayLook() && underWay.size > 0) await Promise.race([...underWay, woken.promise])
      } while (mayLook())
    } finally {
      await Promise.all(underWay)
    }
  }

  const takeTurn = async (find: typeof findDue): Promise<void> => {
    if ((await find(1)).length === 0) return
    const turn = await beginTurn(abort.signal)
    if (!turn) return
    try {
      await handleDue(turn, find)
    } finally {
      await turn.end?.()
    }
  }

  const takeTurns = async (): Promise<void> => {
    do {
      lookAgain = false
      await takeTurn(findOrReport).catch((error: unknown) => log.error({ err: error }, `${name} outbox cannot be read`))
    } while (mayLook())
  }

  const look = (): void => {
    lookAgain = true
    woken.resolve()
    woken = Promise.withResolvers()
    running ??= takeTurns().finally(() => {
      running = undefined
    })
  }

  return {
    start() {
      timer = setInterval(look, POLL_MS).unref()
    },
    wake() {
      if (!timer || waking) return
      if (!wakeAfterMs) return look()
      waking = setTimeout(() => {
        waking = undefined
        look()
      }, wakeAfterMs()).unref()
    },
    async stop(patienceMs) {
      clearInterval(timer)
      clearTimeout(waking)
      timer = undefined
      isStopped = true
      const aborting = setTimeout(() => abort.abort(), patienceMs)
      await running
      clearTimeout(aborting)
    },
    runDue: () => takeTurn(findDue),
  }
}
