import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** A TCP connection to a server that a test can cut and restore. */
export class Link {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly port: number,
  ) {}

  /** A link to the server of a URL. */
  static async to(url: string): Promise<Link> {
    const { hostname, port } = new URL(url);
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const link = new Link(server, (server.address() as AddressInfo).port);
    server.on('connection', (near) => {
      const far = connect(Number(port), hostname);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        link.sockets.add(socket);
        socket.pipe(other);
        socket.on('error', () => other.destroy());
        socket.on('close', () => link.sockets.delete(socket));
      }
    });
    return link;
  }

  /** The same URL through this link. */
  through(url: string): string {
    const other = new URL(url);
    other.hostname = '127.0.0.1';
    other.port = String(this.port);
    return other.href;
  }

  /** From now on nothing passes, and no new connection is made. */
  async cut(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  async mend(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }
}
