import { createHash, createPublicKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { requirePrograms, startProgram } from '../gateway/gateway.ts'
import { replaced } from '../gateway/gateway-configuration.ts'
import { createAuthority } from '../network/certificates.ts'
import { freePort } from '../network/free-port.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const HOST = 'admin.example.com'

const deployed = (file: string): string =>
  readFileSync(new URL(`../../../deploy/${file}`, import.meta.url), 'utf8').replaceAll('\r', '')

interface Place {
  folder: string
  port: number
  svc: number
}

const nginx = ({ folder, port, svc }: Place): string => {
  let server = replaced(deployed('nginx/admin.conf'), '127.0.0.1:8081', `127.0.0.1:${svc}`)
  server = replaced(server, 'listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
  server = replaced(replaced(server, '/var/log/nginx', folder), `/etc/ssl/${HOST}`, `${folder}/tls`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr;
events {}
http {
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
${server}}
`
}

const caddy = ({ folder, port, svc }: Place): string => {
  const site = replaced(
    replaced(deployed('caddy/admin.Caddyfile'), '127.0.0.1:8081', `127.0.0.1:${svc}`),
    '/var/log/caddy',
    folder,
  )
  const own = `\n${HOST} {\n\ttls ${folder}/tls.pem ${folder}/tls.key\n`
  const options = `admin off\n\tauto_https disable_redirects\n\thttp_port 0\n\thttps_port ${port}\n\tdefault_bind 127.0.0.1`
  return `{\n\t${options}\n}\n${replaced(site, `\n${HOST} {\n`, own)}`
}

const GATEWAYS = {
  nginx: {
    configure: nginx,
    command: (file: string, folder: string) => ['nginx', '-p', folder, '-e', 'stderr', '-c', file],
  },
  Caddy: { configure: caddy, command: (file: string) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file] },
}

export const ADMIN_GATEWAYS = Object.keys(GATEWAYS) as (keyof typeof GATEWAYS)[]

/** The gateway for administrators, with its file in deploy/ and a certificate of its own. */
export type AdminGateway = {
  /** Chrome finds the host there, and trusts the certificate. */
  chromeArgs: string[]
  /** The log of requests. */
  log(): string
}

export const startAdminGateway = async (
  name: keyof typeof GATEWAYS,
  { svc, t }: { svc: number; t?: TestContext },
): Promise<AdminGateway> => {
  requirePrograms()
  const { configure, command } = GATEWAYS[name]
  const folder = temporaryDirectory(t)
  const port = await freePort()
  const { certificate, key } = createAuthority('An authority').issue(HOST)
  writeFileSync(path.join(folder, 'tls.pem'), certificate)
  writeFileSync(path.join(folder, 'tls.key'), key)
  const file = path.join(folder, 'configuration')
  writeFileSync(file, configure({ folder, port, svc }))
  await startProgram(command(file, folder), { port, cwd: folder, ...(t && { t }) })
  const publicKey = createPublicKey(certificate).export({ type: 'spki', format: 'der' })
  const pin = createHash('sha256').update(publicKey).digest('base64')
  return {
    chromeArgs: [
      `--host-resolver-rules=MAP ${HOST}:443 127.0.0.1:${port}`,
      `--ignore-certificate-errors-spki-list=${pin}`,
    ],
    log: () => readFileSync(path.join(folder, 'admin.log'), 'utf8'),
  }
}
