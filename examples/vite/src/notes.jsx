import { authFetch, logout } from '@svc/sdk/browser'
import { useUser } from '@svc/sdk/react'
import { useEffect, useState } from 'react'

const send = async (body) => {
  const headers = { 'content-type': 'application/json' }
  const answer = await authFetch('/api/notes', body && { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error('Please try again.')
  return answer.json()
}

export const Notes = () => {
  const user = useUser()
  const [notes, setNotes] = useState([])
  const [problem, setProblem] = useState('')
  const show = (answer) => answer.then(setNotes).catch((error) => setProblem(error.message))
  useEffect(() => void show(send()), [])
  return (
    <>
      <p role="status">{problem || `Hello, ${user.username}.`}</p>
      <ul>
        {notes.map((text, index) => (
          <li key={index}>{text}</li>
        ))}
      </ul>
      <form action={(form) => show(send({ text: form.get('text') }))}>
        <input name="text" aria-label="Note" required />
        <button>Save</button>
      </form>
      <button onClick={logout}>Log out</button>
    </>
  )
}
