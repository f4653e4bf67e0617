import 'reflect-metadata';
import { loadEnv } from './platform/config/env.js';
import { messageOf } from './platform/common/errors.js';
import { migrateAtStart } from './platform/database/data-source.js';
import type { MigrationRefusal } from './platform/database/engine/worker-process.js';
import { ENTITIES } from './entities.js';

// The program that checks the schema and migrates it before the service starts.

// End with the process that started this program.
process.on('disconnect', () => process.exit());
migrateAtStart(loadEnv(), ENTITIES).then(
  () => process.exit(),
  (error: unknown) => {
    const refusal: MigrationRefusal = { refusal: messageOf(error) };
    process.send?.(refusal, undefined, undefined, () => process.exit(1));
  },
);
