import { NO_CHANGES } from '../../src/platform/common/field-changes.js';
import { beforeAll, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { insertRows } from '../../src/platform/database/engine/sql.js';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { toEntity, ImportRowsRepository } from '../../src/import/runs/import-rows.repository.js';
import { ImportRowEntity } from '../../src/import/runs/import.entity.js';
import { setUpApp } from '../support/app/app.js';
import { measureEffort } from '../support/app/effort.js';
import { seededUuid } from '../support/app/seed.js';

/**
 * The database cost of a batch and of the first problems does not grow with the rows of the run. The tests count rows
 * instead of time, so that a busy machine gives the same result.
 */
const BATCH = 50;
const FEW = 500;
const MANY = 5_000;
/** Largest accepted growth, which allows for a deeper B-tree. */
const RATIO = 2;

const runs = { few: uuidv7(), many: uuidv7() };
const app = setUpApp({ DATABASE_POOL_SIZE: '1' });
beforeAll(async () => {
  await stageRows(runs.few, FEW);
  await stageRows(runs.many, MANY);
});

async function stageRows(runId: string, rows: number): Promise<void> {
  const entities = Array.from({ length: rows }, (_, index) =>
    toEntity(runId, {
      line: index + 2,
      manager: null,
      outcome: 'created',
      external_id: `HR-${index}`,
      user_uuid: seededUuid(index),
      version: 0,
      batch: 1 + Math.floor(index / BATCH),
      changes: NO_CHANGES,
      errors: [],
    }),
  );
  await app.app.get(TransactionRunner).run((tx) => insertRows(tx, ImportRowEntity, entities));
}

const getRepository = (): ImportRowsRepository => app.app.get(ImportRowsRepository);
test.each([
  [
    'the rows of a batch',
    async (id: string) => {
      expect(await app.app.get(ImportRowsRepository).listBatchRows(id, 3, 4)).toHaveLength(2 * BATCH);
    },
  ],
  ['the first 50 problems', (id: string) => getRepository().listProblemRows(id, 50)],
  ['failed rows without stored cells', (id: string) => getRepository().listFailedWithoutCells(id, 0, 50)],
  ['failed rows', (id: string) => getRepository().readPages(id, 50, 'error').next()],
  ...[{}, { outcome: ['created'] }, { outcome: ['error', 'created'] }, { code: '' }].map(
    (filter): [string, (id: string) => Promise<unknown>] => [
      `a page of rows near the end, with the filter ${JSON.stringify(filter)}`,
      async (id) => {
        const after = (id === runs.few ? FEW : MANY) - 100;
        const rows = await getRepository().list(id, filter, { after, offset: 0, limit: 50 });
        expect(rows.map(({ line }) => line - after)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
      },
    ],
  ),
])('reading %s costs no more in large imports', async (_, read: (id: string) => Promise<unknown>) => {
  const few = await measureEffort(app, () => read(runs.few));
  const many = await measureEffort(app, () => read(runs.many));
  expect(few).toBeGreaterThan(0);
  expect(many).toBeLessThanOrEqual(RATIO * few);
});
