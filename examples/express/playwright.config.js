// npx svc dev --port 0 --quiet --app http://localhost:3000 -- npx playwright test
import { defineConfig } from '@playwright/test'

export default defineConfig({
  // The tests empty the same svc.
  workers: 1,
  use: { baseURL: process.env.SVC_URL },
  webServer: { command: 'node server.js', port: Number(process.env.PORT) },
})
