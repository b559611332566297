import { DatabaseSync } from 'node:sqlite'

const connections = new Map()

const connect = (file) => {
  const connection = new DatabaseSync(file)
  // A reader in another process may block a RESTART: it fails soon, and the next checkpoint tries again.
  connection.exec('PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 10')
  connections.set(file, connection)
  return connection
}

const close = (file) => {
  connections.get(file)?.close()
  return connections.delete(file)
}

/** Runs a checkpoint (`PASSIVE` or `RESTART`), or closes the file (`CLOSE`). */
export default ({ file, mode }) => {
  if (mode === 'CLOSE') return close(file)
  const connection = connections.get(file) ?? connect(file)
  return connection.prepare(`PRAGMA wal_checkpoint(${mode})`).get()
}
