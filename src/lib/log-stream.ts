import fs from 'node:fs'

const FLUSH_AFTER_MS = 100
const FLUSH_AT_BYTES = 65_536
const MAX_WAITING_BYTES = 1024 * 1024
const URGENT = /^\{"level":"(?:warn|error)"/
/** PIPE_BUF: what a pipe takes in one piece, however many write to it. */
const ATOMIC_BYTES = process.platform === 'linux' ? 4096 : 512
const LINE_END = 10

/**
 * Where log lines go: a file descriptor, several lines at a time, warnings at once. A log that cannot be written (the
 * disk is full, the reader is gone) must not stop the service: then lines are dropped, and none holds up the exit.
 *
 * A shared one has other processes behind it: then it writes no more at a time than keeps lines whole.
 */
export const createLogStream = (fileDescriptor: number, { isShared = false } = {}) => {
  const atMostBytes = isShared ? ATOMIC_BYTES : Number.POSITIVE_INFINITY
  let waiting = ''
  let underWay = false
  let timer: NodeJS.Timeout | undefined
  let onWritten: (() => void)[] = []

  const begin = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (underWay) return
    if (waiting === '') {
      for (const done of onWritten) done()
      onWritten = []
      return
    }
    const bytes = Buffer.from(waiting)
    waiting = ''
    underWay = true
    writeAll(fileDescriptor, bytes, atMostBytes, () => {
      underWay = false
      begin()
    })
  }

  process.once('exit', () => {
    try {
      let bytes = Buffer.from(underWay ? '' : waiting)
      while (bytes.length > 0) {
        bytes = bytes.subarray(fs.writeSync(fileDescriptor, firstPiece(bytes, atMostBytes)))
      }
    } catch {
      // There is nobody left to tell.
    }
  })

  return {
    write(line: string): void {
      if (waiting.length > MAX_WAITING_BYTES) return
      waiting += line
      if (waiting.length > FLUSH_AT_BYTES || URGENT.test(line)) begin()
      else timer ??= setTimeout(begin, FLUSH_AFTER_MS).unref()
    },
    /** Writes what waits; `done` is called when nothing does any more. */
    flush(done?: () => void): void {
      if (done) onWritten.push(done)
      begin()
    },
  }
}

const writeAll = (fileDescriptor: number, bytes: Buffer, atMostBytes: number, done: () => void): void => {
  fs.write(fileDescriptor, firstPiece(bytes, atMostBytes), (error, written) => {
    if (error?.code === 'EAGAIN') setTimeout(writeAll, 10, fileDescriptor, bytes, atMostBytes, done).unref()
    else if (error || written >= bytes.length) done()
    else writeAll(fileDescriptor, bytes.subarray(written), atMostBytes, done)
  })
}

/** As many whole lines as fit; a line that is longer than that goes alone. */
const firstPiece = (bytes: Buffer, atMostBytes: number): Buffer => {
  if (bytes.length <= atMostBytes) return bytes
  const lastEnd = bytes.lastIndexOf(LINE_END, atMostBytes - 1)
  const end = lastEnd < 0 ? bytes.indexOf(LINE_END, atMostBytes) : lastEnd
  return end < 0 ? bytes : bytes.subarray(0, end + 1)
}
