import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Puts all temporary folders into one folder, which is deleted when this process ends, fails or is stopped. */
export function cleanUpAtExit(): void {
  const root = mkdtempSync(join(tmpdir(), 'rollcall-bench-'));
  process.env['TMPDIR'] = root;
  process.once('exit', () => {
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(130));
  }
}
