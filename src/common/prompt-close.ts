import type { Server, ServerResponse } from 'node:http';

/**
 * Lets a server that no longer listens end with its last answer. Without this a kept-alive connection whose request
 * was in flight at that moment holds up the end until its time-out.
 */
export function closePromptly(server: Server): void {
  server.on('request', (_request, response: ServerResponse) => {
    response.once('close', () => {
      if (!server.listening)
        setImmediate(() => {
          server.closeIdleConnections();
        });
    });
  });
}
