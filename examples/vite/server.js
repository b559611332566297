// Notes: an API, and the pages that Vite has built. svc signs the users in.
import { requireUser } from '@svc/sdk/express'
import express from 'express'

const app = express()
const notes = [] // an application has a database here

const notesOf = ({ id }) => notes.filter(({ owner }) => owner === id).map(({ text }) => text)

app.use('/api', requireUser())

app.get('/api/notes', (request, response) => {
  response.json(notesOf(request.user))
})

// JSON alone: other origins may send forms with the user's cookies, but no JSON.
app.post('/api/notes', express.json({ limit: '64kb' }), (request, response) => {
  if (!request.is('application/json')) return response.sendStatus(415)
  notes.push({ owner: request.user.id, text: String(request.body?.text) })
  return response.json(notesOf(request.user))
})

app.use(express.static('dist'))

app.listen(process.env.PORT ?? 3000, '127.0.0.1')
