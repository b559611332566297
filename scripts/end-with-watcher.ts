// `npm run dev` loads this before svc. A watcher that is killed cannot stop svc: then svc has another parent.
const watcher = process.ppid

const endWithoutWatcher = (): void => {
  if (process.ppid !== watcher) process.kill(process.pid, 'SIGTERM')
  else setTimeout(endWithoutWatcher, 500).unref()
}

endWithoutWatcher()
