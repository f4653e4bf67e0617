import express from 'express';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, createServer } from 'node:http';
import type { BaselinePlan } from '../support/statements.js';
import { createMariadbReplay } from './mariadb.js';
import { buildResponse, createFiller } from './replay.js';
import { createSqliteReplay } from './sqlite.js';

/**
 * `requests.ts PLAN`: a server that only sends the statements of its plan for each request, and responds with their
 * results as JSON. The number of the user is the last digits of the path, or of the username in the body.
 */
const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as BaselinePlan;
const { statements, url } = plan;
const replay = url.startsWith('sqlite:')
  ? createSqliteReplay(url.slice('sqlite:'.length), statements)
  : createMariadbReplay(url, statements);

const parseNumber = (text: string): number => Number(/\d+$/.exec(text)?.[0]);

function respond(
  request: IncomingMessage,
  body: string,
  send: (status: number, answer: object) => void,
): void {
  const about = body === '' ? '' : (JSON.parse(body) as { username?: string });
  const n = parseNumber(about === '' ? (request.url ?? '') : (about.username ?? request.url ?? ''));
  replay(createFiller(n, String(request.headers['x-api-key'])), (error, found) => {
    if (error) send(500, { error: error.message });
    else send(200, buildResponse(plan.answer, found));
  });
}

if (plan.framework === 'express') {
  const app = express();
  app.get('/{*path}', (request, response) => {
    respond(request, '', (status, found) => response.status(status).json(found));
  });
  app.listen(plan.port, '127.0.0.1');
} else {
  createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      respond(request, Buffer.concat(pieces).toString(), (status, found) => {
        const text = JSON.stringify(found);
        response.writeHead(status, {
          'content-type': 'application/json; charset=utf-8',
          'content-length': Buffer.byteLength(text),
        });
        response.end(text);
      });
    });
  }).listen(plan.port, '127.0.0.1');
}
