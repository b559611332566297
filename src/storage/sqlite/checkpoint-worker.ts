import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

// A reader in another process may block a RESTART: it fails soon, and the next checkpoint tries again.
const connection = new DatabaseSync(workerData as string)
connection.exec('PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 10')

parentPort?.on('message', (message: 'PASSIVE' | 'RESTART' | 'STOP') => {
  if (message === 'STOP') {
    connection.close()
    parentPort?.close()
    return
  }
  parentPort?.postMessage(connection.prepare(`PRAGMA wal_checkpoint(${message})`).get())
})
