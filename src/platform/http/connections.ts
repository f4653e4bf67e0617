import type { Server } from 'node:http';
import type { Log } from '../telemetry/log.js';
import type { Metrics } from '../telemetry/metrics.js';

/** One line says how many connections were refused in this time. */
const REPORT_MILLIS = 60_000;

/**
 * Bounds the connections of this process, whatever they send or do not send: each takes a file descriptor and memory before
 * anything of it is known. One more is closed without an answer, and shows in the log and the metrics.
 */
export function limitConnections(server: Server, most: number, log: Log, metrics: Metrics): void {
  server.maxConnections = most;
  // In a cluster the primary would offer it to the other workers, round and round while all are full.
  Object.assign(server, { dropMaxConnection: true });
  let open = 0;
  let refused = 0;
  let reported = Number.NEGATIVE_INFINITY;
  server.on('connection', (socket) => {
    open++;
    socket.once('close', () => open--);
  });
  server.on('drop', () => {
    refused++;
    if (performance.now() - reported < REPORT_MILLIS) return;
    reported = performance.now();
    log.warning('connections refused', { limit: most, refused });
  });
  metrics.gauge('rollcall_connections', 'Open connections.', 'sum', () => open);
  metrics.gauge('rollcall_connections_refused', 'Connections over MAX_CONNECTIONS.', 'sum', () => refused);
}
