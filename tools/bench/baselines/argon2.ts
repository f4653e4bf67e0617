import { verify } from '@node-rs/argon2';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** `argon2.ts PLAN`: a server that only checks one password for every request, on all its cores. */
const { port, hash, password } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as {
  port: number;
  hash: string;
  password: string;
};

createServer((request, response) => {
  request.resume();
  void verify(hash, password).then((isValid) => {
    response.writeHead(isValid ? 200 : 401, { 'content-type': 'application/json' }).end('{}');
  });
}).listen(port, '127.0.0.1');
