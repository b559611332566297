// Preloaded into the processes of test files (--import), before node:test. Node follows every promise to tell which test
// has begun it: a tenth of the processor time of a test with a service in its process. Timers, sockets and the like are
// followed as before. Plain JavaScript, since the start of each process would wait for its types to be stripped.
import asyncHooks from 'node:async_hooks'

const { createHook } = asyncHooks

// Node's runner takes it from here when it is loaded.
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })
