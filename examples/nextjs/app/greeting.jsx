'use client'
import { useUser } from '@svc/sdk/react'

export const Greeting = () => (
  <p>
    Hello, {useUser().username}. <a href="/notes">Your notes</a>
  </p>
)
