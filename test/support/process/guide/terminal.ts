import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Output of a script, and its commands that did not end with 0. */
export interface ScriptResult {
  printed: string;
  faults: string[];
}

const END = '\0';
/**
 * Start of the shell. An unset variable ends the shell. Other failures are reported with line and command. Aliases work
 * as in a terminal.
 */
const PRELUDE = `set -uE -o pipefail; shopt -s expand_aliases
trap 'echo "line $LINENO: $BASH_COMMAND: $?" >&3' ERR
`;

/** One shell for a whole document, so that variables keep their values between blocks. */
export class Terminal {
  private readonly shell: ChildProcess;
  private printed = '';
  private faults = '';
  private blocks = 0;
  private resolveRun: (() => void) | undefined;

  constructor(
    private readonly folder: string,
    variables: NodeJS.ProcessEnv,
  ) {
    const shell = spawn('bash', ['--noprofile', '--norc'], {
      cwd: folder,
      env: variables,
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
    });
    shell.stdout?.on('data', (chunk: Buffer) => this.append(() => (this.printed += chunk.toString())));
    shell.stdio[3]?.on('data', (chunk: Buffer) => this.append(() => (this.faults += chunk.toString())));
    shell.on('close', (code) => this.append(() => (this.faults += `the shell ended with ${code}${END}`)));
    shell.stdin?.write(`exec 2>&1; ${PRELUDE}`);
    this.shell = shell;
  }

  /** Runs a script to its end. */
  async run(script: string): Promise<ScriptResult> {
    const file = join(this.folder, `.block-${++this.blocks}.sh`);
    writeFileSync(file, script);
    [this.printed, this.faults] = ['', ''];
    const ended = new Promise<void>((resolve) => (this.resolveRun = resolve));
    this.shell.stdin?.write(`. ${file} </dev/null; printf '\\0'; printf '\\0' >&3\n`);
    await ended;
    return {
      printed: this.printed.replace(END, ''),
      faults: this.faults.replace(END, '').split('\n').filter(Boolean),
    };
  }

  /** Ends the shell. */
  close(): void {
    this.shell.stdin?.end();
  }

  private append(change: () => void): void {
    change();
    const hasEnded =
      this.faults.includes(END) && (this.printed.includes(END) || this.faults.includes('the shell ended'));
    if (hasEnded) this.resolveRun?.();
  }
}
