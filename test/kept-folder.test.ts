// Runs once.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryDirectory } from './support/temporary-directory.ts'

const MODULE = import.meta.resolve('./support/temporary-directory.ts')

/** Two folders, one of a test and one of the file, made below a folder of ours and printed. */
const PROGRAM = `
import { test } from 'node:test'
import { temporaryDirectory } from '${MODULE}'
console.log('#' + temporaryDirectory())
test('one', (t) => console.log('#' + temporaryDirectory(t)))`

const runProgram = (t: TestContext, settings: Record<string, string>) => {
  const env = { PATH: process.env.PATH, TMPDIR: temporaryDirectory(t), ...settings }
  const args = ['--input-type=module-typescript', '--eval', PROGRAM]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const folders = [...stdout.matchAll(/#(.+)/g)].map(([, folder = '']) => folder)
  assert.deepEqual(
    folders.map((folder) => path.dirname(folder)),
    [env.TMPDIR, env.TMPDIR],
  )
  return { folders, stderr }
}

test('folders of tests are removed after the test, or after the file', (t) => {
  const { folders, stderr } = runProgram(t, {})
  assert.deepEqual(folders.filter(existsSync), [])
  assert.equal(stderr, '')
})

test('SVC_TEST_KEEP=on keeps them and says where they are', (t) => {
  const { folders, stderr } = runProgram(t, { SVC_TEST_KEEP: 'on' })
  assert.deepEqual(folders.filter(existsSync), folders)
  assert.equal(stderr, `Kept: ${folders[0]} (for the whole file)\nKept: ${folders[1]} (one)\n`)
})
