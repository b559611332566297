import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

// https://www.sqlite.org/walformat.html and https://www.sqlite.org/fileformat2.html#the_write_ahead_log
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const BIG_ENDIAN_CHECKSUMS = 0x377f0683
/** Both copies of the header of the index (`-shm`): one that is not valid has the next reader read the log again. */
const INDEX_HEADER_BYTES = 96

/** Descriptors of indexes, which stay open: to close one would release SQLite's locks of the whole process on it. */
const indexes = new Map()

const readExactly = (descriptor, buffer, position) =>
  readSync(descriptor, buffer, 0, buffer.length, position) === buffer.length

const checksum = (bytes, isBigEndian, sums) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let [first, second] = sums
  for (let at = 0; at < bytes.length; at += 8) {
    first = (first + view.getUint32(at, !isBigEndian) + second) >>> 0
    second = (second + view.getUint32(at + 4, !isBigEndian) + first) >>> 0
  }
  return [first, second]
}

const endsWith = (bytes, at, [first, second]) =>
  bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second

/** Reads the frames of the log one after the other as far as their checksums hold; returns how many did. */
const readFrames = (log, pages, onFrame) => {
  const header = Buffer.alloc(HEADER_BYTES)
  if (!readExactly(log, header, 0)) return 0
  const isBigEndian = header.readUInt32BE(0) === BIG_ENDIAN_CHECKSUMS
  let sums = checksum(header.subarray(0, 24), isBigEndian, [0, 0])
  if (!endsWith(header, 24, sums)) return 0
  onFrame(header, 0)
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(8))
  for (let number = 0; number < pages; number++) {
    const position = HEADER_BYTES + number * frame.length
    if (!readExactly(log, frame, position)) return number
    sums = checksum(frame.subarray(0, 8), isBigEndian, sums)
    sums = checksum(frame.subarray(FRAME_HEADER_BYTES), isBigEndian, sums)
    const isOfThisLog = frame.subarray(8, 16).equals(header.subarray(16, 24))
    if (!isOfThisLog || !endsWith(frame, 16, sums)) return number
    onFrame(frame, position)
  }
  return pages
}

/** Makes all connections read the log again, as after a crash: the index names pages that are no longer in the log. */
const dropIndex = (file) => {
  const index = indexes.get(file) ?? openSync(`${file}-shm`, 'r+')
  indexes.set(file, index)
  writeSync(index, Buffer.alloc(INDEX_HEADER_BYTES), 0, INDEX_HEADER_BYTES, 0)
}

/** Writes the pages of the log again, unchanged; returns how many are missing. */
const rewrite = (connection, log) => {
  const pages = connection.prepare('PRAGMA wal_checkpoint(NOOP)').get().log
  if (pages <= 0) return 0
  return pages - readFrames(log, pages, (bytes, position) => writeSync(log, bytes, 0, bytes.length, position))
}

/** While `holder` holds the lock for writing. `connection` is another one: one in a transaction cannot measure the log. */
const attempt = (holder, connection, file, log) => {
  holder.exec('PRAGMA busy_timeout = 1000; BEGIN IMMEDIATE')
  try {
    const lostPages = rewrite(connection, log)
    if (lostPages > 0) dropIndex(file)
    else fdatasyncSync(log)
    return lostPages
  } finally {
    holder.exec('ROLLBACK')
  }
}

/**
 * Writes all pages of the log again, unchanged, and syncs them; throws when that fails. Pages that the kernel has
 * dropped are given up, with all that come after them.
 */
export default ({ file }) => {
  const [holder, connection] = [new DatabaseSync(file), new DatabaseSync(file)]
  const log = openSync(`${file}-wal`, 'r+')
  try {
    const lostPages = attempt(holder, connection, file, log)
    if (lostPages > 0 && attempt(holder, connection, file, log) > 0)
      throw new Error('The log changes while it is read.')
    return { lostPages }
  } finally {
    closeSync(log)
    holder.close()
    connection.close()
  }
}
