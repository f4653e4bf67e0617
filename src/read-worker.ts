import { errorCodeOf, messageOf } from './platform/common/errors.js';
import { DatabaseError } from './platform/database/engine/database-error.js';
import { exitIfOrphaned, serveAsWorker } from './platform/database/engine/worker-process.js';
import type { SerializedError, ReadWorkerCalls } from './platform/database/sqlite/read-worker.js';
import { SqliteConnection, openFile } from './platform/database/sqlite/sqlite-connection.js';

// The read worker: a separate process that reads a SQLite file. It loads only the database driver.

const file = process.argv[2] ?? '';
exitIfOrphaned();
const connection = new SqliteConnection(openFile(file));
// A small cache is enough, because a long search reads each page of the file only once.
connection.exec('PRAGMA query_only = ON; PRAGMA cache_size = -4096;');

serveAsWorker<object, ReadWorkerCalls>({
  read: (sql, params) => {
    try {
      return connection.queryRaw(sql, params);
    } catch (error) {
      return toReadError(error);
    }
  },
  runCheckpoint: (truncate) => {
    connection.runCheckpoint(truncate);
  },
  ping: () => true,
});

function toReadError(thrown: unknown): SerializedError {
  const error = thrown instanceof DatabaseError ? thrown.cause : thrown;
  return { message: messageOf(error), code: errorCodeOf(error) };
}
