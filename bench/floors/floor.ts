import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Program, freePort } from '../faults/servers.js';
import type { FloorPlan } from '../support/statements.js';

/** A process that does for a request what its plan says and nothing else. */
export class Floor extends Program {
  private readonly folder = mkdtempSync(join(tmpdir(), 'rollcall-floor-'));
  private readonly file = join(this.folder, 'plan.json');

  private constructor(private readonly plan: FloorPlan) {
    super();
    writeFileSync(this.file, JSON.stringify(plan));
  }

  static async make(plan: Omit<FloorPlan, 'port'>, cores: string | undefined): Promise<Floor> {
    const floor = new Floor({ ...plan, port: await freePort() });
    floor.cores = cores;
    await floor.start();
    return floor;
  }

  get url(): string {
    return `http://127.0.0.1:${this.plan.port}`;
  }

  ready(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.plan.port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => {
        resolve(false);
      });
    });
  }

  async remove(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.folder, { recursive: true });
  }

  protected command(): [string, string[], NodeJS.ProcessEnv] {
    const loader = ['--import', '@swc-node/register/esm-register'];
    return [process.execPath, [...loader, 'bench/floors/requests.ts', this.file], process.env];
  }
}
