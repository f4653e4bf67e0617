import { TestEnvironment } from 'jest-environment-node';
import { recordCoverage } from './coverage.mjs';

export default recordCoverage(TestEnvironment);
