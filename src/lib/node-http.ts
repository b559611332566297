/**
 * The parts of `node:http` that the service uses. An `import` of it reads every export, which also loads Node's `fetch`
 * and `WebSocket`: 25 ms of each start, and 7 MB for as long as the process runs.
 */
export const { createServer, get, request, STATUS_CODES } = process.getBuiltinModule('node:http')
