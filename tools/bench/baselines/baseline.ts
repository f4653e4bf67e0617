import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../free-port.js';
import { Program } from '../../servers.js';

/** A server that does the minimum work for a request, as described by a plan. */
export class Baseline extends Program {
  readonly folder = mkdtempSync(join(tmpdir(), 'rollcall-baseline-'));
  private readonly file = join(this.folder, 'plan.json');

  private constructor(
    private readonly script: string,
    private readonly port: number,
    plan: object,
  ) {
    super();
    writeFileSync(this.file, JSON.stringify({ ...plan, port }));
  }

  /**
   * Starts a baseline server.
   * @param script a program in this folder.
   * @param plan the arguments of the program. The port is added to them.
   */
  static async create(
    script: 'requests' | 'argon2',
    plan: object,
    cores: string | undefined,
  ): Promise<Baseline> {
    const baseline = new Baseline(script, await freePort(), plan);
    baseline.cores = cores;
    await baseline.start();
    return baseline;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  isReady(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => {
        resolve(false);
      });
    });
  }

  protected command(): [string, string[], NodeJS.ProcessEnv] {
    const loader = ['--import', '@swc-node/register/esm-register'];
    return [process.execPath, [...loader, `tools/bench/baselines/${this.script}.ts`, this.file], process.env];
  }
}
