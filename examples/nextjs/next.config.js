// In development, Next.js is the proxy in front of both. Elsewhere nginx, or another proxy, routes /auth to svc.
const svc = process.env.SVC_URL ?? 'http://127.0.0.1:8080'
const isDevelopment = process.env.NODE_ENV === 'development'

export default {
  rewrites: async () => (isDevelopment ? [{ source: '/auth/:path*', destination: `${svc}/auth/:path*` }] : []),
}
