import { parentPort } from 'node:worker_threads'

// Plain JavaScript, as are its tasks: what strips types from TypeScript would make the thread twice as large.
const tasks = new Map()

parentPort.on('message', async ({ id, task, input }) => {
  try {
    const run = tasks.get(task) ?? (await import(task)).default
    tasks.set(task, run)
    parentPort.postMessage({ id, output: run(input) })
  } catch (error) {
    parentPort.postMessage({ id, error })
  }
})
