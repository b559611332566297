import { authProxy } from '@svc/sdk/next'

// A convenience: visitors without a session never reach these pages. Each page checks for itself, too.
export const proxy = authProxy()

export const config = { matcher: ['/notes/:path*'] }
