import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

// Readers in other processes may hold a RESTART up; then the next checkpoint gets another chance.
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
