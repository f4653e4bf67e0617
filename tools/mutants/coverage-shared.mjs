import ServiceEnvironment from '../../test/support/jest/environment.mjs';
import { recordCoverage } from './coverage.mjs';

export default recordCoverage(ServiceEnvironment);
