import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls'
import type { ClientConfig } from 'pg'
import { AppError } from '../../lib/errors.ts'
import type { PostgresTarget, PostgresTls } from './target.ts'

export type Encryption = 'tls' | 'plain'

const ENCRYPTIONS: Record<PostgresTls['mode'], readonly Encryption[]> = {
  disable: ['plain'],
  allow: ['plain', 'tls'],
  prefer: ['tls', 'plain'],
  require: ['tls'],
  'verify-ca': ['tls'],
  'verify-full': ['tls'],
}

/** The kinds of connection to try, in this order. As in libpq, there is no TLS over a Unix socket. */
export const encryptionsFor = ({ host, tls }: PostgresTarget): readonly Encryption[] =>
  host.startsWith('/') ? ['plain'] : ENCRYPTIONS[tls.mode]

/**
 * Whether a connection that failed so may succeed with the other kind, as libpq has it for `prefer` and `allow`: the
 * server has no TLS, the handshake failed, or the server lets nobody in this way (SQLSTATE class 28). A server that is
 * away or slow is no such reason.
 */
export const mayTryOther = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (
    /^(?:28...|ERR_SSL_\w+|ERR_TLS_\w+)$/.test(code) ||
    CERTIFICATE_ERRORS.test(code) ||
    /^(?:The server does not support SSL|There was an error establishing an SSL) connections?$/.test(error.message)
  )
}

// What Node calls the results of X509_verify_cert (https://nodejs.org/api/tls.html#x509-certificate-error-codes).
const CERTIFICATE_ERRORS = /CERT|^CRL_|^UNABLE_TO_|^INVALID_(?:CA|PURPOSE)$|^HOSTNAME_MISMATCH$/

/**
 * What `pg` is to be given for one kind of connection. Everything that it would take from `PG*` variables or from
 * `~/.pgpass` is set, so that only the URL counts. Reads the certificates; throws `AppError` that names the parameter.
 */
export const connectionOptions = (target: PostgresTarget, encryption: Encryption): ClientConfig => ({
  host: target.host,
  port: target.port,
  database: target.database,
  user: target.user,
  // As a function: an empty value would be taken from PGPASSWORD.
  password: () => target.password ?? '',
  ssl: encryption === 'tls' && tlsOptions(target.tls),
  sslnegotiation: 'postgres',
  client_encoding: 'UTF8',
  application_name: target.applicationName ?? 'svc',
  ...(target.connectTimeoutMs !== undefined && { connectionTimeoutMillis: target.connectTimeoutMs }),
})

/** As libpq: whoever names a root has the chain checked in every mode, but the name in `verify-full` alone. */
const tlsOptions = (tls: PostgresTls): ConnectionOptions => ({
  secureContext: createContext(tls),
  rejectUnauthorized: tls.rootCertificateFile !== undefined,
  ...(tls.mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
})

const createContext = (tls: PostgresTls) => {
  const ca = tls.rootCertificateFile === 'system' ? systemRoots() : readRoot(tls.rootCertificateFile)
  const cert = read('sslcert', tls.certificateFile)
  const key = read('sslkey', tls.keyFile)
  const options = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(tls.keyPassword !== undefined && { passphrase: tls.keyPassword }),
  }
  return orExplain('sslcert, sslkey and sslpassword', () => createSecureContext(options))
}

/** Node passes over what is no certificate, and then trusts nobody, or whom it trusts by itself. */
const readRoot = (file: string | undefined): string | undefined => {
  const text = read('sslrootcert', file)
  if (text !== undefined) orExplain('sslrootcert', () => new X509Certificate(text))
  return text
}

const orExplain = <T>(parameters: string, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    const message = `What is in ${parameters} of the database's URL cannot be used.`
    throw new AppError('unavailable', message, { cause: error })
  }
}

const read = (parameter: string, file: string | undefined): string | undefined => {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const message = `The ${parameter} ${file} of the database's URL cannot be read.`
    throw new AppError('unavailable', message, { cause: error })
  }
}

const systemRoots = (): string[] => {
  const roots = getCACertificates('system')
  if (roots.length > 0) return roots
  throw new AppError(
    'unavailable',
    'The URL of the database says sslrootcert=system, but the operating system has no root certificates (package ca-certificates).',
  )
}
