import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'

/** Ends a server and removes its folder when this process has ended in any way. */
export type Guard = {
  /** Names the processes to end, the parent first; none while the server is stopped. */
  watch(pids: number[]): void
  /** Ends the server and removes the folder at once. */
  finish(): Promise<void>
}

// The input of the guard ends when this process ends in any way, even by SIGKILL. SIGQUIT stops a server at once and
// leaves nothing in the shared memory of the system; a frozen process gets it when it continues. A process that has
// ended without a parent still counts as a process, so the server's own file is checked, too.
const SCRIPT = `
  folder=$0 pid_file=$1
  while read -r line; do pids=$line; done
  set -- $pids
  if [ $# -gt 0 ]; then
    kill -QUIT "$@"
    kill -CONT "$@"
    tries=0
    while kill -0 "$1" && [ -e "$pid_file" ] && [ $tries -lt 100 ]; do sleep 0.05; tries=$((tries + 1)); done
    kill -KILL "$@"
  fi
  rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }
`

/** Starts to guard `folder` with a server that removes `pidFile` as its last step. Does not delay a test. */
export const startGuard = (folder: string, pidFile: string): Guard => {
  // In a separate session, so that Ctrl-C in a terminal does not reach it.
  const child = spawn('/bin/sh', ['-c', SCRIPT, folder, pidFile], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = once(child, 'exit')
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  return {
    watch: (pids) => {
      if (!child.stdin.writableEnded) child.stdin.write(`${pids.join(' ')}\n`)
    },
    finish: async () => {
      child.ref()
      child.stdin.end()
      await ended
    },
  }
}
