import fs from 'node:fs'

const FLUSH_AFTER_MS = 100
const FLUSH_AT_LENGTH = 65_536
const MAX_WAITING_LENGTH = 1024 * 1024
const RETRY_AFTER_MS = 10
const URGENT = /^\{"level":"(?:warn|error)"/
/** PIPE_BUF: a pipe takes this many bytes in one piece, however many processes write to it. */
const ATOMIC_BYTES = process.platform === 'linux' ? 4096 : 512
const LINE_END = 10

interface LogStream {
  write(line: string): void
  /** Writes all waiting lines; calls `onWritten` when none waits any more. */
  flush(onWritten?: () => void): void
}

/**
 * Writes log lines to a file descriptor, several at a time, and warnings at once. When the log cannot be written (the
 * disk is full, the reader is gone or blocked), lines are dropped; the service runs on, and exits without delay. With
 * `pino.destination` it would not, and an idle process would wake up ten times a second
 * (docs/decisions/028-own-code.md).
 *
 * With `isShared`, other processes write to the same pipe: then a single write is short enough to keep lines whole.
 */
export const createLogStream = (fileDescriptor: number, { isShared = false } = {}): LogStream => {
  const maxBytes = isShared ? ATOMIC_BYTES : Number.POSITIVE_INFINITY
  let waiting = ''
  let isWriting = false
  let timer: NodeJS.Timeout | undefined
  let callbacks: (() => void)[] = []

  const writeWaiting = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (isWriting) return
    if (waiting === '') {
      for (const onWritten of callbacks) onWritten()
      callbacks = []
      return
    }
    const bytes = Buffer.from(waiting)
    waiting = ''
    isWriting = true
    writeAll(fileDescriptor, bytes, maxBytes, () => {
      isWriting = false
      writeWaiting()
    })
  }

  process.once('exit', () => {
    try {
      // While a write is pending, the reader may be blocked: another write would delay the exit.
      let bytes = Buffer.from(isWriting ? '' : waiting)
      while (bytes.length > 0) bytes = bytes.subarray(fs.writeSync(fileDescriptor, firstPiece(bytes, maxBytes)))
    } catch {
      // The log was the place to report this.
    }
  })

  return {
    write(line) {
      if (waiting.length > MAX_WAITING_LENGTH) return
      waiting += line
      if (waiting.length > FLUSH_AT_LENGTH || URGENT.test(line)) writeWaiting()
      else timer ??= setTimeout(writeWaiting, FLUSH_AFTER_MS).unref()
    },
    flush(onWritten) {
      if (onWritten) callbacks.push(onWritten)
      writeWaiting()
    },
  }
}

/** Writes piece by piece; calls `onEnd` at the end, and also after an error, which drops the rest. */
const writeAll = (fileDescriptor: number, bytes: Buffer, maxBytes: number, onEnd: () => void): void => {
  fs.write(fileDescriptor, firstPiece(bytes, maxBytes), (error, written) => {
    if (error?.code === 'EAGAIN') {
      setTimeout(writeAll, RETRY_AFTER_MS, fileDescriptor, bytes, maxBytes, onEnd).unref()
    } else if (error || written >= bytes.length) onEnd()
    else writeAll(fileDescriptor, bytes.subarray(written), maxBytes, onEnd)
  })
}

/** As many whole lines as fit; a line that does not fit by itself goes alone. */
const firstPiece = (bytes: Buffer, maxBytes: number): Buffer => {
  if (bytes.length <= maxBytes) return bytes
  const lastEnd = bytes.lastIndexOf(LINE_END, maxBytes - 1)
  const end = lastEnd < 0 ? bytes.indexOf(LINE_END, maxBytes) : lastEnd
  return end < 0 ? bytes : bytes.subarray(0, end + 1)
}
