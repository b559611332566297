import react from '@vitejs/plugin-react'

// `npx vite` passes requests for the API on to `node server.js`.
const proxy = { '/api': { target: process.env.API_URL ?? 'http://127.0.0.1:3000' } }

export default { plugins: [react()], server: { proxy } }
