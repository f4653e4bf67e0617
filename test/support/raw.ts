import { request } from 'node:http';
import { connect } from 'node:net';

/** Sends a body in chunks, without a `Content-Length`. @returns status and the answer's text. */
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

/** Sends bytes unchanged and reads until the server closes the connection. */
export function sendBytes(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(text);
    });
    socket.write(bytes, 'latin1');
  });
}
