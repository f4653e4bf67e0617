import { errorCode } from './platform/common/errors.js';
import { DatabaseFault } from './platform/database/engine/database-error.js';
import { answerAsLane } from './platform/database/engine/worker-process.js';
import type { ReadError, ReaderCalls } from './platform/database/sqlite/read-worker.js';
import { Checkpointer, SqliteConnection, openFile } from './platform/database/sqlite/sqlite-connection.js';

// The read worker: a separate process that reads a SQLite file. It loads only the database driver.

const file = process.argv[2] ?? '';
const connection = new SqliteConnection(openFile(file));
const checkpointer = new Checkpointer(connection, file);
// A long search reads each page once, so a small cache is enough.
connection.exec('PRAGMA query_only = ON; PRAGMA cache_size = -4096;');

answerAsLane<object, ReaderCalls>({
  read: (sql, params) => {
    try {
      return connection.raw(sql, params);
    } catch (error) {
      return toReadError(error);
    }
  },
  writeBack: () => checkpointer.writeBack(),
  isThere: () => true,
});

function toReadError(thrown: unknown): ReadError {
  const error = thrown instanceof DatabaseFault ? thrown.cause : thrown;
  return { message: error instanceof Error ? error.message : String(error), code: errorCode(error) };
}
