import type { Answer } from './client.js';
import { once } from 'node:events';
import { request } from 'node:http';
import { type Socket, connect } from 'node:net';

/** Sends a body in chunks, without a `Content-Length`. @returns status and text of the response. */
export function sendChunked(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  chunks: readonly (string | Uint8Array)[],
): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    sent.on('error', reject);
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
  });
}

/** Sends bytes unchanged and reads until the server ends the connection. */
export async function sendBytes(url: string, bytes: string): Promise<string> {
  const { socket, ended } = await RawConnection.open(url);
  socket.write(bytes, 'latin1');
  const text = await ended;
  socket.destroy();
  return text;
}

/** A connection on which a test writes arbitrary bytes. It stays open when the server ends its side. */
export class RawConnection {
  private text = '';
  /** Everything that the server sent, when it has closed the connection. */
  readonly closed: Promise<string>;
  /** Everything that the server sent, when it has ended its side. */
  readonly ended: Promise<string>;

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => (this.text += chunk));
    socket.on('error', () => undefined); // a reset counts as a close
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        resolve(this.text);
      });
    });
    const end = new Promise<void>((resolve) => socket.on('end', resolve));
    this.ended = Promise.race([end, this.closed]).then(() => this.text);
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const connection = new RawConnection(socket);
    await once(socket, 'connect');
    return connection;
  }

  /** Connects and sends a request line with headers. */
  static async openWithRequest(
    url: string,
    line: string,
    headers: Record<string, string>,
    body: string | Uint8Array = '',
  ): Promise<RawConnection> {
    const connection = await RawConnection.open(url);
    const fields = Object.entries({ host: 'rollcall.test', ...headers });
    const head = [`${line} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`), '', ''];
    connection.socket.write(Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), Buffer.from(body)]));
    return connection;
  }

  /**
   * Waits until everything that was received matches a pattern. Returns that text.
   * @throws Error if the server closes the connection first.
   */
  async waitFor(pattern: Pick<RegExp, 'test'>): Promise<string> {
    while (!pattern.test(this.text)) {
      if (this.socket.closed) throw new Error(`the server closed after: ${this.text}`);
      await Promise.race([once(this.socket, 'data'), this.closed]);
    }
    return this.text;
  }
}

/** Parses the last response in a text that a server sent. */
export function parseLastResponse(text: string): {
  status: number;
  headers: Record<string, string>;
  body: string;
} {
  const start = text.lastIndexOf('HTTP/1.1 ');
  const [head = '', body = ''] = text.slice(start).split('\r\n\r\n', 2);
  const [line = '', ...fields] = head.split('\r\n');
  const headers = fields.map((field) => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const;
  });
  return { status: Number(line.split(' ')[1]), headers: Object.fromEntries(headers), body };
}

/** Sends bytes and returns the response, such as an error of the HTTP parser. */
export async function sendForResponse(url: string, bytes: string): Promise<Answer> {
  const { status, headers, body } = parseLastResponse(await sendBytes(url, bytes));
  return { status, headers, text: body, body: JSON.parse(body), cookie: '' };
}
