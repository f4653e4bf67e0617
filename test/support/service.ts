import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The service as its own process, from `src/main.ts`, with everything it prints. */
export class Service {
  output = '';

  private constructor(readonly process: ChildProcess) {
    for (const stream of [process.stdout, process.stderr]) {
      stream?.setEncoding('utf8');
      stream?.on('data', (text: string) => (this.output += text));
    }
  }

  /** @param settings all environment variables of the service, beside PATH. */
  static launch(settings: Record<string, string>): Service {
    const args = ['--import', '@swc-node/register/esm-register', 'src/main.ts'];
    const env = { PATH: process.env['PATH'] ?? '', PORT: '0', HOST: '127.0.0.1', ...settings };
    return new Service(spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** With an exit code or by a signal. */
  private get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** The address of the service, as soon as it has printed it. */
  async url(): Promise<string> {
    for (;;) {
      const url = /API +(http:\/\/127\.0\.0\.1:\d+)\//.exec(this.output)?.[1];
      if (url) return url;
      if (this.hasEnded) throw new Error(`the service ended: ${this.output}`);
      await Promise.race([once(this.process.stdout ?? this.process, 'data'), once(this.process, 'exit')]);
    }
  }

  /** Exit code and whole output of a service that ends, which SIGTERM asks it to when `stop` is set. */
  async ended(options: { stop?: boolean } = {}): Promise<{ code: number | null; output: string }> {
    if (!this.hasEnded) {
      const closed = once(this.process, 'close');
      if (options.stop) this.process.kill('SIGTERM');
      await closed;
    }
    return { code: this.process.exitCode, output: this.output };
  }
}
