// Runs once.
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { createPrompt, Interrupted, readLine } from '../../src/cli/terminal/prompt.ts'

const open = () => {
  const input = new PassThrough()
  const output = new PassThrough()
  const prompt = createPrompt({ input, output })
  const shown = async (): Promise<string> => {
    prompt.close()
    output.end()
    return text(output)
  }
  return { input, prompt, shown }
}

test('the answer to a hidden question is never shown, even if it is corrected', async () => {
  const { input, prompt, shown } = open()
  input.write('sekrit!\x7f words\r')
  assert.equal(await prompt.askHidden('Password: '), 'sekrit words')
  assert.equal(await shown(), 'Password: \n')
})

test('both entries may be pasted at once', async () => {
  const { input, prompt } = open()
  input.write('first line\rsecond line\r')
  assert.equal(await prompt.askHidden('Password: '), 'first line')
  assert.equal(await prompt.askHidden('Once more: '), 'second line')
  prompt.close()
})

test('spaces around a password are part of it', async () => {
  const { input, prompt } = open()
  input.write('  pässwort 日本  \r')
  assert.equal(await prompt.askHidden('Password: '), '  pässwort 日本  ')
  prompt.close()
})

test('a visible question shows the answer as it is typed', async () => {
  const { input, prompt, shown } = open()
  const answer = prompt.ask('Sure? ')
  input.write('yes\r')
  assert.equal(await answer, 'yes')
  assert.match(await shown(), /Sure\? .*yes/)
})

for (const [name, key] of [
  ['Ctrl+C', '\x03'],
  ['Ctrl+D', '\x04'],
] as const) {
  test(`${name} at a question is an interruption, and the hidden input before it is not shown`, async () => {
    const { input, prompt, shown } = open()
    // Ctrl+D works on an empty line only.
    input.write(key === '\x03' ? `half${key}` : key)
    await assert.rejects(prompt.askHidden('Password: '), Interrupted)
    assert.equal(await shown(), 'Password: \n')
  })
}

const inputOf = async function* (...parts: (string | Uint8Array)[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part)
}

test('standard input is one line, of which only the line end is removed', async () => {
  assert.equal(await readLine(inputOf(' pass', 'word \n')), ' password ')
  assert.equal(await readLine(inputOf('password\r\n')), 'password')
  assert.equal(await readLine(inputOf('pass\rword\r')), 'pass\rword\r')
  assert.equal(await readLine(inputOf('\ufeffp\0assword')), '\ufeffp\0assword')
  assert.equal(await readLine(inputOf(Buffer.from([0xc3]), Buffer.from([0xa4, 0x0a]))), 'ä')
  assert.equal(await readLine(inputOf()), '')
})

test('standard input that cannot be a password is refused, not cut', async () => {
  await assert.rejects(readLine(inputOf('one\ntwo\n')), /more than one line/)
  await assert.rejects(readLine(inputOf('password\n\n')), /more than one line/)
  await assert.rejects(readLine(inputOf(Buffer.from([0xff, 0x41]))), /UTF-8/)
  await assert.rejects(readLine(inputOf('x'.repeat(16_385))), /too long/)
})
