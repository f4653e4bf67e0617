import { DataSource } from 'typeorm';
import { readSettings } from './src/platform/config/settings.js';
import { ENTITIES } from './src/entities.js';
import { buildDataSourceOptions } from './src/platform/database/data-source.js';

/** Data source for TypeORM's own command line (`npm run typeorm -- …`). The service opens the same options. */
export default new DataSource(buildDataSourceOptions(readSettings(), ENTITIES));
