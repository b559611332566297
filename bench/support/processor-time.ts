import { processTreeCpuMs } from './cpu-time.ts'
import { type Client, load } from './load.ts'

interface ProcessorTimeOptions {
  port: number
  clients: readonly Client[]
  durationMs: number
  /** Processes, each counted with its descendants. */
  pids: readonly number[]
}

/** Loads a server; the microseconds of processor time that each of the processes used for a request. */
export const measureProcessorTime = async ({ port, clients, durationMs, pids }: ProcessorTimeOptions) => {
  const before = pids.map(processTreeCpuMs)
  const { requests, ratePerS } = await load({ port, clients, durationMs })
  const usedUs = pids.map((pid, index) => ((processTreeCpuMs(pid) - (before[index] ?? 0)) * 1000) / requests)
  return { usedUs, ratePerS }
}
