import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.js';

/** Flags with which `npm run start:prod` starts the service. */
const START_FLAGS = ['--max-semi-space-size=4'];

export const KEY = 'fault-9fK2mWq7Xr4Zt8Lc3Vb6Np1Sd5Gh0Jy-key';

/** Running programs. They are killed when this process exits. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A program that can be killed and restarted. */
export abstract class Program {
  private child: ChildProcess | undefined;
  /** Cores that the program may use, in the format of `taskset`. Default: all cores. */
  protected cores: string | undefined;
  /** File to which the output is appended. Default: none. */
  protected log: string | undefined;

  /** Folder of the data of the program. */
  abstract readonly folder: string;

  protected abstract command(): [string, string[], NodeJS.ProcessEnv];
  abstract isReady(): Promise<boolean>;

  async start(): Promise<void> {
    const [file, args, env] = this.command();
    const pinned = this.cores === undefined ? [file, ...args] : ['taskset', '-c', this.cores, file, ...args];
    const output = this.log === undefined ? ('ignore' as const) : openSync(this.log, 'a');
    const child = spawn(pinned[0] ?? file, pinned.slice(1), { env, stdio: ['ignore', output, output] });
    if (typeof output === 'number') closeSync(output);
    this.child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    while (!(await this.isReady())) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${file} ended with ${child.exitCode ?? child.signalCode}\n${this.lastOutput}`);
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

  /** Kills the process and deletes its folder. */
  async remove(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get lastOutput(): string {
    return this.log === undefined ? '' : readFileSync(this.log, 'utf8').slice(-4000);
  }

  /** Stops the process (SIGSTOP) or lets it continue. */
  setFrozen(frozen: boolean): void {
    this.child?.kill(frozen ? 'SIGSTOP' : 'SIGCONT');
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error('not started');
    return this.child.pid;
  }
}

/** Creates an empty data directory for `mariadbd`. Its user root has no password. */
export function installDatabase(folder: string): void {
  const own = [`--user=${userInfo().username}`, `--datadir=${folder}`];
  const args = ['--no-defaults', ...own, '--auth-root-authentication-method=normal', '--skip-test-db'];
  execFileSync('mariadb-install-db', args, { stdio: 'ignore' });
}

/** A throwaway MariaDB on a free port, as durable as in production. */
export class MariaDb extends Program {
  private constructor(
    readonly folder: string,
    private readonly port: number,
    private readonly options: string[],
  ) {
    super();
  }

  /** Starts a server. @param options of the server in addition to its defaults. */
  static async create(cores?: string, options: string[] = []): Promise<MariaDb> {
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

  /** Runs statements. @returns the first column of their results. */
  sql(statements: string): string[] {
    const login = ['--no-defaults', '-h127.0.0.1', `-P${this.port}`, '-uroot', '-N', '-e', statements];
    const found = execFileSync('mariadb', login, { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
    return found.split('\n').filter((line) => line !== '');
  }

  async isReady(): Promise<boolean> {
    await delay(50);
    try {
      this.sql('SELECT 1');
      return true;
    } catch {
      return false;
    }
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
   * Starts the service.
   * @param settings in addition to the defaults, such as DATABASE_URL.
   * @param root the checkout that contains the built service.
   * @param logged true to write the output to a file `log` in the folder.
   */
  static async create(
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

  /** Returns true if the service accepts its first API key, which is created after it begins to accept requests. */
  async isReady(): Promise<boolean> {
    const headers = { 'x-api-key': KEY };
    const response = await fetch(`${this.url}/api/0.3/users/search`, { headers }).catch(() => undefined);
    return response?.status === 200;
  }

  protected command(): [string, string[], NodeJS.ProcessEnv] {
    const env = {
      PATH: process.env['PATH'],
      PORT: String(this.port),
      DATA_DIR: this.folder,
      MIGRATE_ON_START: 'true',
      BOOTSTRAP_API_KEY: KEY,
      BOOTSTRAP_WEBMASTER_PASSWORD: 'paint the garden fence',
      FUSE_MIN: '0', // the load blocks more users with one key than the fuse allows
      LOG_LEVEL: 'silent',
      ...this.settings,
    };
    return [process.execPath, [...START_FLAGS, join(this.root, 'dist/main.js')], env];
  }
}
