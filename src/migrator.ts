import 'reflect-metadata';
import { loadEnv } from './platform/config/env.js';
import { migrateAtStart } from './platform/database/data-source.js';
import type { Refusal } from './platform/database/engine/lane-process.js';
import { ENTITIES } from './entities.js';

// The program of the process that looks at the schema before the service starts, and brings it up to date.

process.on('disconnect', () => process.exit()); // whoever started it has ended
migrateAtStart(loadEnv(), ENTITIES).then(
  () => process.exit(),
  (error: unknown) => {
    const refusal: Refusal = { refusal: error instanceof Error ? error.message : String(error) };
    process.send?.(refusal, undefined, undefined, () => process.exit(1));
  },
);
