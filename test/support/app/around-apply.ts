import { jest } from '@jest/globals';
import { Applier } from '../../../src/import/apply/applier.service.js';
import type { ImportRun } from '../../../src/import/runs/import-run.js';
import type { TestApp } from './app.js';

/** Calls `before` between the plan of the next run and its application, and `after` when its changes are applied. */
export function aroundApply(
  { app }: TestApp,
  before: () => Promise<unknown>,
  after?: (run: ImportRun) => Promise<unknown>,
): void {
  const applier = app.get(Applier);
  const apply = applier.apply.bind(applier);
  jest.spyOn(applier, 'apply').mockImplementationOnce(async (run, checkpoint) => {
    await before();
    await apply(run, checkpoint);
    await after?.(run);
  });
}
