import type { Command } from 'commander'
import { addCommand } from './command.ts'
import { addDatabaseCopy } from './database-copy.ts'

/** `svc database`: the commands about all of the data at once. */
export const addDatabase = (program: Command): void => {
  const database = addCommand(program, 'database', 'copy the whole installation to another database', [
    'svc database copy --from sqlite:data/svc.db --to postgres://svc@db.example.com/svc',
  ])
  addDatabaseCopy(database)
}
