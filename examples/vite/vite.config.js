import react from '@vitejs/plugin-react'

const svc = process.env.SVC_URL ?? 'http://127.0.0.1:8080'

// For `npx vite`, which is the proxy in front of both then.
const proxy = { '^/auth([/?]|$)': { target: svc }, '/api': { target: 'http://127.0.0.1:3000' } }

export default { plugins: [react()], server: { proxy } }
