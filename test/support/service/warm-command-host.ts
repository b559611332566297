// Runs the commands of tests, one after another: `svc` itself, with the arguments, folder, environment and input of
// each.
import { createInterface } from 'node:readline'
import { Readable, Writable } from 'node:stream'
import { main } from '../../../src/main.ts'
import type { Command } from './warm-command.ts'

const { stdin, stdout } = process
const now = Date.now

const collector = () => {
  let text = ''
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      text += String(chunk)
      done()
    },
  })
  return { stream, text: () => text }
}

const replace = (name: 'stdin' | 'stdout' | 'stderr', value: unknown): void => {
  Object.defineProperty(process, name, { value, configurable: true })
}

const run = async ({ args, cwd, env = {}, input = '', aheadMs = 0 }: Command) => {
  const out = collector()
  const errors = collector()
  replace('stdin', Readable.from(input === '' ? [] : [Buffer.from(input)]))
  replace('stdout', out.stream)
  replace('stderr', errors.stream)
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) delete process.env[name]
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value
  Date.now = () => now() + aheadMs
  Object.assign(process, { exitCode: undefined })
  await main(args)
  return { code: process.exitCode ?? 0, stdout: out.text(), stderr: errors.text() }
}

for await (const line of createInterface({ input: stdin })) {
  const command: Command = JSON.parse(line)
  stdout.write(`${JSON.stringify(await run(command))}\n`)
}
process.exit(0)
