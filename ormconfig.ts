import { DataSource } from 'typeorm';
import { loadEnv } from './src/config/env.js';
import { dataSourceOptions } from './src/database/data-source-options.js';

/** For TypeORM's own command line (`npm run typeorm -- …`); the service opens the same options. */
export default new DataSource(dataSourceOptions(loadEnv()));
