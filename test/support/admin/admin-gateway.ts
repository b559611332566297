import { createHash, createPublicKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { COMMANDS, requirePrograms, startProgram } from '../gateway/gateway.ts'
import { CONFIGURATION, replaced } from '../gateway/gateway-configuration.ts'
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

/** With the defaults of haproxy.cfg, which the file is added to. */
const haproxy = ({ folder, port, svc }: Place): string => {
  const [defaults = ''] = /^defaults\n(?: .*\n)*/m.exec(deployed('haproxy/haproxy.cfg')) ?? []
  const site = replaced(deployed('haproxy/admin.cfg'), '127.0.0.1:8081', `127.0.0.1:${svc}`)
  const bound = replaced(site, 'bind :443', `bind 127.0.0.1:${port}`)
  return `${defaults}\n${replaced(bound, `/etc/haproxy/${HOST}.pem`, `${folder}/both.pem`)}`
}

const apache = ({ folder, port, svc }: Place): string => {
  let site = replaced(deployed('apache/admin.conf'), '127.0.0.1:8081', `127.0.0.1:${svc}`)
  site = replaced(replaced(site, '/var/log/apache2', folder), `/etc/ssl/${HOST}`, `${folder}/tls`)
  const modules = ['mpm_event', 'authz_core', 'headers', 'proxy', 'proxy_http', 'socache_shmcb', 'ssl']
  return `ServerRoot ${folder}
${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
User www-data
Group www-data
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
ErrorLog ${folder}/errors
Listen 127.0.0.1:${port}
${replaced(site, '*:443', `127.0.0.1:${port}`)}`
}

/** Envoy reads no file below /dev, where the folder may be. */
const envoy = ({ folder, port, svc }: Place): string => {
  let listener = replaced(deployed('envoy/admin.yml'), '0.0.0.0, port_value: 443', `127.0.0.1, port_value: ${port}`)
  listener = replaced(listener, 'port_value: 8081', `port_value: ${svc}`)
  for (const file of ['pem', 'key']) {
    const text = JSON.stringify(readFileSync(path.join(folder, `tls.${file}`), 'utf8'))
    listener = replaced(listener, `filename: /etc/ssl/${HOST}.${file}`, `inline_string: ${text}`)
  }
  return listener
}

/** The static configuration, which names the entry point, has nothing else here. */
const traefik = ({ folder, port, svc }: Place): string => {
  const provider = `providers:\n  file:\n    filename: ${path.join(folder, CONFIGURATION)}\n`
  const entryPoint = `entryPoints:\n  websecure:\n    address: "127.0.0.1:${port}"\n`
  writeFileSync(path.join(folder, 'static.yml'), entryPoint + provider)
  const site = replaced(deployed('traefik/admin.yml'), 'http://127.0.0.1:8081', `http://127.0.0.1:${svc}`)
  return `${site}\ntls:\n  certificates:\n    - certFile: ${folder}/tls.pem\n      keyFile: ${folder}/tls.key\n`
}

const CONFIGURATIONS = { nginx, Caddy: caddy, HAProxy: haproxy, Traefik: traefik, Envoy: envoy, Apache: apache }

/** The gateway for administrators, with its file in deploy/ and a certificate of its own. */
export type AdminGateway = {
  /** Chrome finds the host there, and trusts the certificate. */
  chromeArgs: string[]
  port: number
  certificate: string
  /** The log of requests, of those that write it into a file. */
  log(): string
}

export const startAdminGateway = async (
  name: keyof typeof CONFIGURATIONS,
  { svc, t }: { svc: number; t?: TestContext },
): Promise<AdminGateway> => {
  requirePrograms()
  const folder = temporaryDirectory(t)
  const port = await freePort()
  const { certificate, key } = createAuthority('An authority').issue(HOST)
  writeFileSync(path.join(folder, 'tls.pem'), certificate)
  writeFileSync(path.join(folder, 'tls.key'), key)
  writeFileSync(path.join(folder, 'both.pem'), certificate + key)
  const file = path.join(folder, CONFIGURATION)
  writeFileSync(file, CONFIGURATIONS[name]({ folder, port, svc }))
  await startProgram(COMMANDS[name](file, folder), { port, cwd: folder, ...(t && { t }) })
  const publicKey = createPublicKey(certificate).export({ type: 'spki', format: 'der' })
  const pin = createHash('sha256').update(publicKey).digest('base64')
  return {
    port,
    certificate,
    chromeArgs: [
      `--host-resolver-rules=MAP ${HOST}:443 127.0.0.1:${port}`,
      `--ignore-certificate-errors-spki-list=${pin}`,
    ],
    log: () => readFileSync(path.join(folder, 'admin.log'), 'utf8'),
  }
}
