import Link from 'next/link'

export const metadata = { title: 'Notes' }

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <nav>
          <Link href="/">Home</Link> <Link href="/notes">Notes</Link> <Link href="/profile">Profile</Link>
        </nav>
        {children}
        <script src="/auth/session.js" defer />
      </body>
    </html>
  )
}
