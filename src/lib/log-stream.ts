import fs from 'node:fs'

const FLUSH_AFTER_MS = 100
const FLUSH_AT_BYTES = 65_536
const MAX_WAITING_BYTES = 1024 * 1024
const URGENT = /^\{"level":"(?:warn|error)"/

/**
 * Where log lines go: a file descriptor, several lines at a time, warnings at once. A log that cannot be written (the
 * disk is full, the reader is gone) must not stop the service: then lines are dropped, and none holds up the exit.
 */
export const createLogStream = (fileDescriptor: number) => {
  let waiting = ''
  let underWay = false
  let timer: NodeJS.Timeout | undefined

  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (underWay || waiting === '') return
    const bytes = Buffer.from(waiting)
    waiting = ''
    underWay = true
    writeAll(fileDescriptor, bytes, () => {
      underWay = false
      if (waiting !== '') flush()
    })
  }

  process.once('exit', () => {
    try {
      if (!underWay) fs.writeSync(fileDescriptor, waiting)
    } catch {
      // There is nobody left to tell.
    }
  })

  return {
    write(line: string): void {
      if (waiting.length > MAX_WAITING_BYTES) return
      waiting += line
      if (waiting.length > FLUSH_AT_BYTES || URGENT.test(line)) flush()
      else timer ??= setTimeout(flush, FLUSH_AFTER_MS).unref()
    },
    flush,
  }
}

const writeAll = (fileDescriptor: number, bytes: Buffer, done: () => void): void => {
  fs.write(fileDescriptor, bytes, (error, written) => {
    if (error?.code === 'EAGAIN') setTimeout(writeAll, 10, fileDescriptor, bytes, done).unref()
    else if (error || written >= bytes.length) done()
    else writeAll(fileDescriptor, bytes.subarray(written), done)
  })
}
