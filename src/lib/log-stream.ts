import fs from 'node:fs'

const FLUSH_AFTER_MS = 100
const FLUSH_AT_LENGTH = 65_536
const MAX_WAITING_LENGTH = 1024 * 1024
const RETRY_AFTER_MS = 10
const URGENT = /^\{"level":"(?:warn|error)"/

interface LogStream {
  write(line: string): void
  /** Writes all waiting lines; calls `onWritten` when none waits any more. */
  flush(onWritten?: () => void): void
}

/**
 * Writes log lines to a file descriptor, several at a time, and warnings at once. When the log cannot be written (the
 * disk is full, the reader is gone or blocked), lines are dropped; the service runs on, and exits without delay.
 * `pino.destination` would not do so, and would wake an idle process ten times a second
 * (docs/decisions/028-own-code.md).
 */
export const createLogStream = (fileDescriptor: number): LogStream => {
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
    writeAll(fileDescriptor, bytes, () => {
      isWriting = false
      writeWaiting()
    })
  }

  process.once('exit', () => {
    try {
      // While a write is pending, the reader may be blocked: another write would delay the exit.
      let bytes = Buffer.from(isWriting ? '' : waiting)
      while (bytes.length > 0) bytes = bytes.subarray(fs.writeSync(fileDescriptor, bytes))
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

/** Writes until nothing is left; calls `onEnd` then, and also after an error, which drops the rest. */
const writeAll = (fileDescriptor: number, bytes: Buffer, onEnd: () => void): void => {
  fs.write(fileDescriptor, bytes, (error, written) => {
    if (error?.code === 'EAGAIN') {
      setTimeout(writeAll, RETRY_AFTER_MS, fileDescriptor, bytes, onEnd).unref()
    } else if (error || written >= bytes.length) onEnd()
    else writeAll(fileDescriptor, bytes.subarray(written), onEnd)
  })
}
