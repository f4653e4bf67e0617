import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Service } from '../faults/servers.js';
import { importFile, makeUserFile } from '../support/import-file.js';
import { MemoryWatch } from '../support/meter.js';
import type { Absolute } from '../support/results.js';
import type { Context } from './context.js';

const SMALL = 50_000;
const LARGE = 500_000;
const AT_MOST = 1.2;

/**
 * The peak memory of a large file as a multiple of that of a small one. Each file is planned by its own service, as new
 * users: only such a plan keeps something in memory for every row.
 */
export async function compareImportMemory({
  engine,
  cores,
  say,
}: Pick<Context, 'engine' | 'cores' | 'say'>): Promise<Absolute> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-import-'));
  const peak = async (rows: number): Promise<number> => {
    const url = engine.create(`planned_${rows}`);
    const service = await Service.make({ DATABASE_URL: url, LOG_LEVEL: 'info' }, undefined, cores.server);
    const watch = new MemoryWatch(service.pid);
    try {
      const file = await makeUserFile(folder, rows);
      await importFile(service, file, { pids: [], expected: { created: rows }, query: '?dry_run=true' });
      const mebibytes = watch.peak;
      say(`plan of ${rows} rows: ${mebibytes.toFixed(0)} MiB at its peak`);
      return mebibytes;
    } finally {
      watch.end();
      await service.remove();
    }
  };
  try {
    const small = await peak(SMALL);
    return {
      case: `memory of a plan of ${LARGE.toLocaleString('en')} rows over that of ${SMALL.toLocaleString('en')}`,
      engine: engine.name,
      value: (await peak(LARGE)) / small,
      unit: 'times',
      atMost: AT_MOST,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
