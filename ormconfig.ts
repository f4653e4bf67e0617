import { DataSource } from 'typeorm';
import { readSettings } from './src/platform/config/settings.js';
import { ENTITIES } from './src/entities.js';
import { buildDataSourceOptions } from './src/platform/database/data-source.js';

/** Data source for the command line of TypeORM (`npm run typeorm -- …`), with the same options as the service. */
export default new DataSource(buildDataSourceOptions(readSettings(), ENTITIES));
