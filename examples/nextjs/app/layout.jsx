import { getUser } from '@svc/sdk/next'
import { SvcProvider } from '@svc/sdk/react'
import Link from 'next/link'

export const metadata = { title: 'Notes' }

export default async function Layout({ children }) {
  const user = await getUser()
  return (
    <html lang="en">
      <body>
        <nav>
          <Link href="/">Home</Link> <Link href="/notes">Notes</Link> <Link href="/profile">Profile</Link>
        </nav>
        <SvcProvider user={user}>{children}</SvcProvider>
        <script src="/auth/session.js" defer />
      </body>
    </html>
  )
}
