// Preloaded into a server: `start` starts watching the event loop, and `stop` answers with the longest stall in ms.
import { monitorEventLoopDelay } from 'node:perf_hooks'

const RESOLUTION_MS = 1
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

process.on('message', (message: 'start' | 'stop') => {
  if (message === 'start') {
    histogram.reset()
    histogram.enable()
    process.send?.('started')
    return
  }
  histogram.disable()
  process.send?.(Math.max(0, histogram.max / 1e6 - RESOLUTION_MS))
})
// The message listener must not keep the server alive.
process.channel?.unref()
