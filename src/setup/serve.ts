import type { NestExpressApplication } from '@nestjs/platform-express';
import type { LeanAdapter } from '../http/lean.adapter.js';
import { type FirstCredentials, FirstStart } from './first-start.service.js';

/**
 * Serves where `listening` has got a port, once there is a way in: requests that come earlier wait, so that nobody who
 * sees the service answer is refused with the first key. The port comes first, so that no credentials are made that
 * are never shown.
 * @returns the first credentials, if they were made now. @throws Error what `listening` or the first start throws.
 */
export async function serve(
  app: NestExpressApplication,
  listening: Promise<unknown>,
): Promise<FirstCredentials | undefined> {
  const started = listening.then(() => app.get(FirstStart).run());
  (app.getHttpAdapter() as unknown as LeanAdapter).holdUntil(started);
  return started;
}
