import { SignedIn, SignedOut, SvcProvider } from '@svc/sdk/react'
import { createRoot } from 'react-dom/client'
import { Notes } from './notes.jsx'

createRoot(document.querySelector('#root')).render(
  <SvcProvider>
    <h1>Notes</h1>
    <SignedIn>
      <Notes />
    </SignedIn>
    <SignedOut>
      <a href="/auth/login?return_to=%2F">Log in</a>
    </SignedOut>
  </SvcProvider>,
)
