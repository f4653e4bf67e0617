import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** Characters of a line that are kept until its end is read. What is longer is no line of the log, and is dropped. */
const MAX_LINE = 64 * 1024;

/**
 * What a process beside this one prints, through pipes of its own: Node.js makes streams that two processes share blocking
 * when one of them starts or ends, and the log of the service would wait for its reader from then on.
 * @param printed takes whole lines of standard output. Standard error goes to that of
 * this process.
 * @returns when all of it is read. The event `close` of a child does not say so: with a channel it may never come.
 */
export async function relayOutput(
  { stdout, stderr }: { stdout: Readable | null; stderr: Readable | null },
  printed: (lines: string) => void,
): Promise<void> {
  await Promise.all([
    stdout && relay(stdout, printed),
    stderr && relay(stderr, (lines) => void process.stderr.write(lines)),
  ]);
}

function relay(stream: Readable, take: (lines: string) => void): Promise<void> {
  if (stream instanceof Socket) stream.unref(); // it does not keep this process alive
  const lines = new WholeLines();
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const whole = lines.add(text);
    if (whole !== '') take(whole);
  });
  stream.on('end', () => {
    const rest = lines.end();
    if (rest !== '') take(rest);
  });
  stream.on('error', () => undefined); // the end of the process is reported elsewhere
  return new Promise((resolve) => void stream.once('close', resolve));
}

/** Cuts what arrives in pieces into whole lines. */
export class WholeLines {
  private rest = '';
  private isTooLong = false;

  /** @returns the lines that end in this piece, each with its end. */
  add(text: string): string {
    const end = text.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.keep(text);
      return '';
    }
    const begun = this.isTooLong ? text.slice(text.indexOf('\n') + 1, end) : this.rest + text.slice(0, end);
    this.rest = '';
    this.isTooLong = false;
    this.keep(text.slice(end));
    return begun;
  }

  /** @returns the last line where it has no end, with one. */
  end(): string {
    return this.rest === '' ? '' : `${this.rest}\n`;
  }

  private keep(text: string): void {
    this.isTooLong ||= this.rest.length + text.length > MAX_LINE;
    this.rest = this.isTooLong ? '' : this.rest + text;
  }
}
