import { jest } from '@jest/globals';
import { service } from '../jest/native.js';

/** Lets ten seconds pass in each second, for deadlines of the service, until `jest.restoreAllMocks`. Pauses stay as they are. */
export function speedUp(): void {
  for (const clock of [service.Date, service.performance]) {
    const now = clock.now.bind(clock);
    const started = now();
    jest.spyOn(clock, 'now').mockImplementation(() => started + (now() - started) * 10);
  }
}
