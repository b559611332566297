import { readFileSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { parser } from '../../config/parsers.ts'
import { escapeControls } from '../../lib/control-characters.ts'
import { AppError } from '../../lib/errors.ts'
import { readOrigin } from '../../lib/url.ts'
import { command, option } from '../command/command.ts'
import { printJson, printPainted } from '../terminal/output.ts'
import { createPaint } from '../terminal/text.ts'
import type { Finding } from './findings.ts'
import { examine } from './installation.ts'

const publicOrigin = parser('an address without a path, such as https://example.com', (text) =>
  /^https?:\/\/[^/]+\/?$/.test(text) ? readOrigin(text.replace(/\/$/, '')) : undefined,
)

/** It looks at a running installation through its public address (CONTRACT.md 8.5). */
export const doctor = command({
  args: { name: '[url]', text: 'the public address (default: SVC_BASE_URL)', parser: publicOrigin },
  text: 'find what is wrong with a running installation and the proxy in front',
  examples: [
    'svc doctor',
    'svc doctor https://example.com',
    'svc doctor https://example.com --ca authority.pem --json',
  ],
  options: { ca: option.text('--ca <file>', 'trust the certificates in this file, too (PEM)') },
  async run({ options: { ca }, json, loadConfig }, url: string | undefined) {
    const config = loadConfig()
    const origin = url ?? config.baseUrl ?? `http://localhost:${config.port}`
    const findings = await examine(config, { origin, ca: ca === undefined ? undefined : readCertificates(ca) })
    if (findings.length > 0) process.exitCode = 1
    const redirectUris = redirectUrisOf(config, origin)
    if (json) return printJson({ findings, ...(redirectUris.length > 0 && { redirect_uris: redirectUris }) })
    return printPainted(reportText(origin, findings, redirectUris))
  },
})

const readCertificates = (file: string): string => {
  try {
    const text = readFileSync(file, 'utf8')
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  } catch (cause) {
    throw new AppError('invalid_request', `--ca: ${file} cannot be read`, { cause })
  }
  throw new AppError('invalid_request', `--ca: ${file} holds no certificate (PEM)`)
}

const redirectUrisOf = ({ oauthProviders }: Config, origin: string): string[] =>
  oauthProviders.map(({ name }) => `${origin}/auth/oauth/${name}/callback`)

const reportText = (origin: string, findings: Finding[], redirectUris: string[]): string => {
  const paint = createPaint()
  const lines = findings.map(
    ({ code, message, cure }) => `${paint('red', code)}: ${paint('bold', escapeControls(message))} ${cure}`,
  )
  if (findings.length === 0) lines.push(`${paint('green', origin)}: nothing to complain about.`)
  if (redirectUris.length > 0) lines.push('', 'Redirect URIs to register with the providers:')
  return [...lines, ...redirectUris.map((uri) => `  ${uri}`), ''].join('\n')
}
