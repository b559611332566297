// Passport with Express and express-session, as their documentation has them, on `node:sqlite`. Arguments: port, secret.
import { pbkdf2, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { callbackify, promisify } from 'node:util'
import createStore from 'better-sqlite3-session-store'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'

const [port, secret] = process.argv.slice(2)
const database = new DatabaseSync('peer.db')
// Durable, and the fastest of the durable modes.
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
database.exec('CREATE TABLE IF NOT EXISTS users (id TEXT PRIMARY KEY, email TEXT UNIQUE, hash BLOB, salt BLOB)')
const insert = database.prepare('INSERT INTO users VALUES (?, ?, ?, ?)')
const findByEmail = database.prepare('SELECT * FROM users WHERE email = ?')
const findById = database.prepare('SELECT id, email FROM users WHERE id = ?')

// Passport hashes nothing itself; this is the hash of its guide.
const hash = (password, salt) => promisify(pbkdf2)(password, salt, 310_000, 32, 'sha256')

const verify = async (email, password) => {
  const user = findByEmail.get(email)
  return user !== undefined && timingSafeEqual(await hash(password, user.salt), user.hash) && { id: user.id, email }
}

passport.use(new Strategy({ usernameField: 'email' }, callbackify(verify)))
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, findById.get(id) ?? false))

const SqliteStore = createStore(session)
const store = new SqliteStore({ client: database })
// Otherwise each request that reads a session also writes its time of expiry.
store.touch = undefined
const app = express()
app.disable('x-powered-by').disable('etag')
app.use(express.json())
app.use(session({ secret, store, resave: false, saveUninitialized: false }))
app.use(passport.session())
app.get('/health', (_, response) => response.json({ ok: true }))
app.post('/sign-up', async ({ body: { email, password } }, response) => {
  const salt = randomBytes(16)
  insert.run(randomUUID(), email, await hash(password, salt), salt)
  response.json({ email })
})
app.post('/sign-in', passport.authenticate('local'), ({ user }, response) => response.json(user))
app.get('/user', ({ user }, response) => (user ? response.json(user) : response.sendStatus(401)))
app.post('/sign-out', (request, response, next) =>
  request.logout((error) => (error ? next(error) : response.json({ success: true }))),
)
app.listen(Number(port), '127.0.0.1', () => process.stderr.write(`{"listen":"http://127.0.0.1:${port}"}\n`))
process.once('SIGTERM', () => process.exit())
