import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'

/** Ends a server and removes its folder when this process is gone, however it went. */
export type Guard = {
  /** Says which processes to end, the one that started the others first; none while the server is stopped. */
  watch(pids: number[]): void
  /** Does at once what it does when this process is gone. */
  finish(): Promise<void>
}

// Its input ends when this process does, by a signal or SIGKILL too. SIGQUIT stops at once without leaving anything in
// the system's shared memory; a frozen process hears it when it goes on. Who has ended and has no parent to notice still
// counts as a process: therefore the server's own file is looked at as well.
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

/** Starts to guard `folder` with a server that removes `pidFile` as its last act. Keeps no test waiting. */
export const startGuard = (folder: string, pidFile: string): Guard => {
  // In a session of its own, so that Ctrl-C in a terminal does not reach it.
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
