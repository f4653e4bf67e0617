import { openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** The moment of a kill: just before or just after a statement of the import worker. */
export interface Moment {
  /** Number of the statement or commit, from 1, since the switch was set. */
  at: number;
  unit: 'statement' | 'commit';
  after: boolean;
  /**
   * True if the service is killed too, as in a failure of the machine. Otherwise only the import worker is killed, as
   * when memory is short.
   */
  service: boolean;
}

const NUMBERS = 6;
const TEXT = 120;

/**
 * Counts the statements of the import worker and kills it at one of them. Stored data changes only with commits, so the
 * numbers cover every moment that makes a difference for a crash, and repeat it. A file connects the test with the
 * worker, because the service starts the worker, and restarts it after each kill.
 */
export class KillSwitch {
  /** Settings to start a service with. */
  readonly settings: Readonly<Record<string, string>>;
  private readonly file: number;

  constructor(folder: string) {
    const path = join(folder, 'kill-switch');
    this.file = openSync(path, 'w+');
    this.set();
    const program = `await (${installHook.toString()})(${JSON.stringify(path)}, ${NUMBERS}, ${TEXT})`;
    this.settings = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(program)}` };
  }

  /** Restarts the count, and sets the moment of the next kill if there is one. */
  set(moment?: Moment): void {
    const { at = 0, unit, after, service } = moment ?? {};
    const flags = [unit === 'commit', after, service].map(Number);
    writeSync(this.file, Buffer.from(new Uint32Array([0, 0, at, ...flags]).buffer), 0, NUMBERS * 4, 0);
    writeSync(this.file, Buffer.alloc(TEXT), 0, TEXT, NUMBERS * 4);
  }

  /** Number of statements since the switch was set. */
  get statements(): number {
    return this.readNumber(0);
  }

  get commits(): number {
    return this.readNumber(1);
  }

  /** Statement at which the worker was killed, empty before the kill. */
  get victim(): string {
    const text = Buffer.alloc(TEXT);
    readSync(this.file, text, 0, TEXT, NUMBERS * 4);
    return text.toString('utf8').replace(/\0.*$/s, '').replace(/\s+/g, ' ').trim();
  }

  private readNumber(index: number): number {
    const bytes = Buffer.alloc(4);
    readSync(this.file, bytes, 0, 4, index * 4);
    return bytes.readUInt32LE();
  }
}

/** Runs in every process of the service before its program. It must not use anything from this module. */
async function installHook(path: string, numbers: number, text: number): Promise<void> {
  const [fs, net, { DatabaseSync, StatementSync }] = await Promise.all([
    import('node:fs'),
    import('node:net'),
    import('node:sqlite'),
  ]);
  const program = process.argv[1] ?? '';
  if (!program.endsWith('import-worker.js')) return;
  const file = fs.openSync(path, 'r+');

  function around<T>(sql: string, send: () => T): T {
    const bytes = Buffer.alloc(numbers * 4);
    fs.readSync(file, bytes, 0, bytes.length, 0);
    const [statements = 0, commits = 0, at, byCommit, after, service] = new Uint32Array(
      bytes.buffer,
      bytes.byteOffset,
      numbers,
    );
    const isCommit = sql.startsWith('COMMIT');
    const counted = new Uint32Array([statements + 1, commits + Number(isCommit)]);
    fs.writeSync(file, Buffer.from(counted.buffer), 0, 8, 0);
    const isTarget = byCommit === 1 ? isCommit && counted[1] === at : counted[0] === at;
    const die = (): void => {
      const victim = Buffer.from(sql).subarray(0, text);
      fs.writeSync(file, victim, 0, victim.length, numbers * 4);
      if (service === 1) process.kill(process.ppid, 'SIGKILL');
      process.kill(process.pid, 'SIGKILL');
    };
    if (isTarget && after === 0) die();
    const result = send();
    if (isTarget) die();
    return result;
  }

  // SQLite
  const exec = Reflect.get(DatabaseSync.prototype, 'exec');
  DatabaseSync.prototype.exec = function (sql) {
    around(sql, () => {
      exec.call(this, sql);
    });
  };
  type Send = (this: { sourceSQL: string }, ...params: unknown[]) => unknown;
  const sends = StatementSync.prototype as unknown as Record<'run' | 'all' | 'get', Send>;
  for (const name of ['run', 'all', 'get'] as const) {
    const send = sends[name];
    sends[name] = function (...params) {
      return around(this.sourceSQL, () => send.apply(this, params));
    };
  }

  // MariaDB: a packet has a length, a number and a command. Command 3 is a text, and 23 runs a prepared statement.
  const socket = net.Socket.prototype as { write: (...args: unknown[]) => boolean };
  const { write } = socket;
  socket.write = function (this: InstanceType<typeof net.Socket>, ...args: unknown[]) {
    const [packet] = args;
    const command = this.remotePort !== undefined && Buffer.isBuffer(packet) ? packet[4] : undefined;
    if (command !== 3 && command !== 23) return write.apply(this, args);
    const sql = command === 3 ? (packet as Buffer).toString('utf8', 5, 5 + text) : 'EXECUTE';
    return around(sql, () => write.apply(this, args));
  };
}
