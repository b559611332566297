import { DatabaseSync } from 'node:sqlite'

const connections = new Map()

/** Reads nothing of the file yet, so that closing it changes nothing. */
const open = (file) => {
  if (!connections.has(file)) connections.set(file, new DatabaseSync(file))
}

const close = (file) => {
  connections.get(file)?.close()
  return connections.delete(file)
}

const checkpoint = (connection, mode) => {
  // A reader in another process may block a RESTART: it fails soon, and the next checkpoint tries again.
  connection.exec('PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 10')
  return connection.prepare(`PRAGMA wal_checkpoint(${mode})`).get()
}

/** Opens a file (`OPEN`), runs a checkpoint of it (`PASSIVE`, `RESTART` or `TRUNCATE`), or closes it (`CLOSE`). */
export default ({ file, mode }) => {
  if (mode === 'OPEN') return open(file)
  if (mode === 'CLOSE') return close(file)
  return checkpoint(connections.get(file), mode)
}
