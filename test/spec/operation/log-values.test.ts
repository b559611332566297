// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLog, type Log } from '../../../src/lib/log.ts'
import { newPerson, type Person, signUp } from '../../support/client/accounts.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { openDatabase } from '../../support/database/database.ts'
import { databaseChoice } from '../../support/database/database-choice.ts'
import { loggedRequest } from '../../support/service/request-log.ts'
import { type Service, startService } from '../../support/service/service.ts'

/** Makes the following statements fail in the database with an unexpected error that contains values. */
const TROUBLES = {
  sqlite: {
    'a unique index that svc does not know': [
      `CREATE UNIQUE INDEX one_of_each ON users (substr(email_lower, 1, 0))`,
      /UNIQUE constraint failed/,
    ],
    'a trigger that refuses the row': [
      `CREATE TRIGGER refuse BEFORE INSERT ON users BEGIN SELECT RAISE(ABORT, 'no more users'); END`,
      /no more users/,
    ],
  },
  postgres: {
    'a unique index that svc does not know': [
      `CREATE UNIQUE INDEX one_of_each ON users (('all of ' || split_part(email_lower, '@', 2)))`,
      /exists|duplicate/,
    ],
    'a constraint: its detail has the whole row': [
      `ALTER TABLE users ADD CONSTRAINT nobody CHECK (created_at < 0) NOT VALID`,
      /23514/,
    ],
    'a value that cannot be converted: it stands in the message': [
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN PERFORM NEW.email::integer; RETURN NEW; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION refuse()`,
      /22P02/,
    ],
    'a statement of a function: it stands in where and internalQuery': [
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN EXECUTE 'SELECT nothing() /* ' || NEW.email || ' */'; RETURN NEW; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION refuse()`,
      /42883/,
    ],
    'what a function raises: any value, in the message, detail and hint': [
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'not %', NEW.email USING DETAIL = NEW.password_hash, HINT = NEW.username; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION refuse()`,
      /P0001/,
    ],
  },
} satisfies Record<string, Record<string, [string, RegExp]>>

const signUpInVain = async (service: Service, person: Person) => {
  const answer = await signUp(createUserAgent(service), person)
  assert.equal(answer.status, 500)
  return loggedRequest(service, answer)
}

describe('a database error is logged without the values of its row', { concurrency: 2 }, () => {
  for (const [title, [statement, expected]] of Object.entries(TROUBLES[databaseChoice])) {
    test(title, async (t) => {
      const service = await startService({ t })
      const first = newPerson()
      assert.equal((await signUp(createUserAgent(service), first)).status, 303)
      const database = await openDatabase(service, t)
      await database.rows(statement)
      const person = newPerson()
      const line = await signUpInVain(service, person)
      await service.stop()
      assert.equal(line.level, 'error')
      assert.match(JSON.stringify(line.err), expected, 'what went wrong can be told')
      assert.match(JSON.stringify(line.err), /stack/)
      for (const value of [person.email, person.username, person.password, '$argon2', 'all of example', '@example'])
        assert.ok(!service.logs().includes(value), `${value}\n${JSON.stringify(line.err)}`)
    })
  }

  test('of any error, the log has message, stack, names and numbers, and none of its other properties', () => {
    const lines: string[] = []
    const log = createLog('error', { write: (line) => void lines.push(line) })
    const facts = { code: '23505', severity: 'ERROR', constraint: 'users.email_lower', errcode: 5, port: 5432 }
    const values = {
      detail: 'Key (email)=(secret-1)',
      where: 'secret-2',
      hint: 'secret-3',
      internalQuery: 'secret-4',
      parameters: ['secret-5'],
      response: { body: 'secret-6' },
      constraintValue: 'secret-7',
      inner: Object.assign(new Error('told'), { detail: 'secret-8' }),
    }
    const cause = Object.assign(new Error('beneath'), values)
    const error = Object.assign(new Error('above', { cause }), facts, values)
    log.error({ err: error }, 'x')
    log.error(error, 'x')
    log.error({ err: new AggregateError([error, cause], 'both') }, 'x')
    assert.equal(lines.length, 3)
    for (const line of lines) assert.doesNotMatch(line, /secret-\d/)
    const { err } = JSON.parse(lines[0] ?? '') as { err: Record<string, unknown> }
    const { stack, ...rest } = err
    assert.deepEqual(rest, { type: 'Error', message: 'above: beneath', ...facts })
    assert.match(String(stack), /above[\s\S]+caused by: Error: beneath/)
    const { err: both } = JSON.parse(lines[2] ?? '') as { err: { aggregateErrors: { code?: string }[] } }
    assert.deepEqual(
      both.aggregateErrors.map(({ code }) => code),
      ['23505', undefined],
    )
  })
})

/** The lines that are written to a log of level `info`. */
const linesOf = (write: (log: Log) => void): string[] => {
  const lines: string[] = []
  write(createLog('info', { write: (line) => void lines.push(line) }))
  return lines
}

describe('a line of the log', () => {
  test('has level, time, facts and message, in this order, and leaves out what is undefined', () => {
    const beforeMs = Date.now()
    const [line = ''] = linesOf((log) => log.info({ a: 1, b: undefined, c: 'x\n"', err: undefined, d: [null] }, 'm'))
    assert.match(
      line,
      /^\{"level":"info","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","a":1,"c":"x\\n\\"","d":\[null\],"message":"m"\}\n$/,
    )
    const { time } = JSON.parse(line) as { time: string }
    assert.ok(Date.parse(time) >= beforeMs && Date.parse(time) <= Date.now(), time)
  })

  test('is not written below the level of the log', () => {
    const lines = linesOf((log) => {
      log.debug({ a: 1 }, 'x')
      log.info('y')
    })
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { message: string }).message),
      ['y'],
    )
  })

  test('has a problem in place of facts for which JSON has no form', () => {
    const circle: { circle?: object } = {}
    circle.circle = circle
    const [first = '', second = ''] = linesOf((log) => {
      log.error(circle, 'x')
      log.info({ count: 1n }, 'y')
    })
    assert.match(first, /^\{"level":"error","time":"[^"]+","problem":"TypeError: [^\n]+","message":"x"\}\n$/)
    assert.match(second, /"problem":"TypeError: .*BigInt","message":"y"\}\n$/)
  })

  test('names an error and its causes once each, even if they form a circle', () => {
    const error = new Error('outer', { cause: new TypeError('inner') })
    Object.assign(error.cause as object, { cause: error })
    const [line = ''] = linesOf((log) => log.error({ err: error }, 'x'))
    assert.equal((JSON.parse(line) as { err: { message: string } }).err.message, 'outer: inner')
  })
})
