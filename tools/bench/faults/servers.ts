import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../free-port.js';

/** As `npm run start:prod` starts the service. */
const START_FLAGS = ['--max-semi-space-size=4'];

export const KEY = 'fault-9fK2mWq7Xr4Zt8Lc3Vb6Np1Sd5Gh0Jy-key';

/** All processes started here end with this one. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A program that can be killed and started again in the same way. */
export abstract class Program {
  private child: ChildProcess | undefined;
  /** The cores that it may use, as `taskset` lists them; unset: all of them. */
  protected cores: string | undefined;
  /** The file that its output is appended to; unset: nowhere. */
  protected log: string | undefined;

  protected abstract command(): [string, string[], NodeJS.ProcessEnv];
  abstract ready(): Promise<boolean>;

  async start(): Promise<void> {
    const [file, args, env] = this.command();
    const pinned = this.cores === undefined ? [file, ...args] : ['taskset', '-c', this.cores, file, ...args];
    const output = this.log === undefined ? ('ignore' as const) : openSync(this.log, 'a');
    const child = spawn(pinned[0] ?? file, pinned.slice(1), { env, stdio: ['ignore', output, output] });
    if (typeof output === 'number') closeSync(output);
    this.child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    while (!(await this.ready())) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${file} ended with ${child.exitCode ?? child.signalCode}\n${this.lastWords}`);
      await delay(20);
    }
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const { child } = this;
    if (child?.exitCode !== null || child.signalCode !== null) return null;
    child.kill(signal);
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  }

  private get lastWords(): string {
    return this.log === undefined ? '' : readFileSync(this.log, 'utf8').slice(-4000);
  }

  /** Stops its process (SIGSTOP) or lets it continue. */
  freeze(frozen: boolean): void {
    this.child?.kill(frozen ? 'SIGSTOP' : 'SIGCONT');
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error('not started');
    return this.child.pid;
  }
}

/** Makes an empty data directory for a `mariadbd` whose user root has no password. */
export function installDatabase(folder: string): void {
  const own = [`--user=${userInfo().username}`, `--datadir=${folder}`];
  const args = ['--no-defaults', ...own, '--auth-root-authentication-method=normal', '--skip-test-db'];
  execFileSync('mariadb-install-db', args, { stdio: 'ignore' });
}

/** A throwaway MariaDB on a free port, durable as in production. */
export class MariaDb extends Program {
  private constructor(
    private readonly folder: string,
    private readonly port: number,
    private readonly options: string[],
  ) {
    super();
  }

  /** @param options of the server in addition to its defaults. */
  static async make(cores?: string, options: string[] = []): Promise<MariaDb> {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-faults-db-'));
    installDatabase(join(folder, 'data'));
    const server = new MariaDb(folder, await freePort(), options);
    server.cores = cores;
    await server.start();
    server.sql('CREATE DATABASE rollcall CHARACTER SET utf8mb4');
    return server;
  }

  get url(): string {
    return this.urlOf('rollcall');
  }

  urlOf(database: string): string {
    return `mysql://root@127.0.0.1:${this.port}/${database}`;
  }

  /** Runs statements. @returns the first column of what they find. */
  sql(statements: string): string[] {
    const login = ['--no-defaults', '-h127.0.0.1', `-P${this.port}`, '-uroot', '-N', '-e', statements];
    const found = execFileSync('mariadb', login, { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
    return found.split('\n').filter((line) => line !== '');
  }

  async ready(): Promise<boolean> {
    await delay(50);
    try {
      this.sql('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }

  async remove(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.folder, { recursive: true });
  }

  protected command(): [string, string[], NodeJS.ProcessEnv] {
    const { folder, port, options } = this;
    const args = ['--no-defaults', `--user=${userInfo().username}`, `--datadir=${join(folder, 'data')}`];
    const own = [`--socket=${join(folder, 's')}`, `--tmpdir=${folder}`, `--port=${port}`];
    return [
      'mariadbd',
      [...args, ...own, '--bind-address=127.0.0.1', '--max-connections=500', ...options],
      process.env,
    ];
  }
}

/** The built service on a free port. */
export class Service extends Program {
  private constructor(
    readonly folder: string,
    private readonly port: number,
    private readonly settings: Record<string, string>,
    private readonly root: string,
  ) {
    super();
  }

  /**
   * @param settings besides the defaults; with DATABASE_URL for MariaDB.
   * @param root the checkout whose `dist` runs.
   * @param logged whether what it prints goes to a file `log` in its folder.
   */
  static async make(
    settings: Record<string, string> = {},
    folder?: string,
    cores?: string,
    root = '.',
    logged = false,
  ): Promise<Service> {
    const own = folder ?? mkdtempSync(join(tmpdir(), 'rollcall-faults-'));
    mkdirSync(own, { recursive: true });
    const service = new Service(own, await freePort(), settings, root);
    service.cores = cores;
    if (logged) service.log = join(own, 'log');
    await service.start();
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Whether it accepts its first key, which is created only after it has begun to accept requests. */
  async ready(): Promise<boolean> {
    const headers = { 'x-api-key': KEY };
    const answer = await fetch(`${this.url}/api/0.3/users/search`, { headers }).catch(() => undefined);
    return answer?.status === 200;
  }

  async remove(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  protected command(): [string, string[], NodeJS.ProcessEnv] {
    const env = {
      PATH: process.env['PATH'],
      PORT: String(this.port),
      DATA_DIR: this.folder,
      MIGRATE_ON_START: 'true',
      BOOTSTRAP_API_KEY: KEY,
      BOOTSTRAP_WEBMASTER_PASSWORD: 'paint the garden fence',
      FUSE_MIN: '0', // the loads block more users with one key than anybody should
      LOG_LEVEL: 'silent',
      ...this.settings,
    };
    return [process.execPath, [...START_FLAGS, join(this.root, 'dist/main.js')], env];
  }
}
