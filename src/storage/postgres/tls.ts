import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls'
import type { ClientConfig } from 'pg'
import { AppError } from '../../lib/errors.ts'
import type { ConnectionInfo, PostgresTls } from './url.ts'

export type Encryption = 'tls' | 'plain'

const ENCRYPTIONS: Record<PostgresTls['mode'], readonly Encryption[]> = {
  disable: ['plain'],
  allow: ['plain', 'tls'],
  prefer: ['tls', 'plain'],
  require: ['tls'],
  'verify-ca': ['tls'],
  'verify-full': ['tls'],
}

/** Lists the kinds of connection to try, in this order. A Unix socket has no TLS, as in libpq. */
export const encryptionsFor = ({ host, tls }: ConnectionInfo): readonly Encryption[] =>
  host.startsWith('/') ? ['plain'] : ENCRYPTIONS[tls.mode]

/**
 * Tells whether the other kind of connection may succeed after this failure, as libpq decides for `prefer` and `allow`:
 * the server has no TLS, the handshake failed, or the server denies access (SQLSTATE class 28), which may depend on
 * TLS. It may not for a server that does not respond.
 */
export const isEncryptionFailure = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (
    /^(?:28...|ERR_SSL_\w+|ERR_TLS_\w+)$/.test(code) ||
    CERTIFICATE_ERRORS.test(code) ||
    /^(?:The server does not support SSL|There was an error establishing an SSL) connections?$/.test(error.message)
  )
}

// These are Node's names for the results of X509_verify_cert
// (https://nodejs.org/api/tls.html#x509-certificate-error-codes).
const CERTIFICATE_ERRORS = /CERT|^CRL_|^UNABLE_TO_|^INVALID_(?:CA|PURPOSE)$|^HOSTNAME_MISMATCH$/

/**
 * Makes the configuration of `pg` for one kind of connection. It sets everything that `pg` would otherwise take from
 * `PG*` variables or `~/.pgpass`, so that nothing but the URL counts. Reads the certificates; throws `unavailable`,
 * naming the parameter.
 */
export const toClientConfig = (info: ConnectionInfo, encryption: Encryption): ClientConfig => ({
  host: info.host,
  port: info.port,
  database: info.database,
  user: info.user,
  // This is a function, because `pg` would replace an empty string by PGPASSWORD.
  password: () => info.password ?? '',
  ssl: encryption === 'tls' && tlsOptions(info.tls),
  sslnegotiation: 'postgres',
  client_encoding: 'UTF8',
  application_name: info.applicationName ?? 'svc',
  ...(info.connectTimeoutMs !== undefined && { connectionTimeoutMillis: info.connectTimeoutMs }),
})

/** A root certificate makes every mode verify the chain, as in libpq; only `verify-full` verifies the host name. */
const tlsOptions = (tls: PostgresTls): ConnectionOptions => ({
  secureContext: createContext(tls),
  rejectUnauthorized: tls.rootCertificateFile !== undefined,
  ...(tls.mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
})

const createContext = (tls: PostgresTls) => {
  const ca = tls.rootCertificateFile === 'system' ? readSystemRoots() : readRootCertificate(tls.rootCertificateFile)
  const cert = readPem('sslcert', tls.certificateFile)
  const key = readPem('sslkey', tls.keyFile)
  const options = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(tls.keyPassword !== undefined && { passphrase: tls.keyPassword }),
  }
  return explainUnusable('sslcert, sslkey and sslpassword', () => createSecureContext(options))
}

/** Checks the text, because Node ignores one that is no certificate, and then trusts its own roots or none. */
const readRootCertificate = (file: string | undefined): string | undefined => {
  const text = readPem('sslrootcert', file)
  if (text !== undefined) explainUnusable('sslrootcert', () => new X509Certificate(text))
  return text
}

const explainUnusable = <T>(parameters: string, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    const message = `The content of ${parameters} in the database's URL cannot be used.`
    throw new AppError('unavailable', message, { cause: error })
  }
}

const readPem = (parameter: string, file: string | undefined): string | undefined => {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const message = `The ${parameter} ${file} of the database's URL cannot be read.`
    throw new AppError('unavailable', message, { cause: error })
  }
}

const readSystemRoots = (): string[] => {
  const roots = getCACertificates('system')
  if (roots.length > 0) return roots
  throw new AppError(
    'unavailable',
    'The URL of the database says sslrootcert=system, but the operating system has no root certificates (package ca-certificates).',
  )
}
