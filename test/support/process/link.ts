import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** A TCP connection to a server that a test can cut and restore. */
export class Link {
  private readonly sockets = new Set<Socket>();
  private trap: { text: string; arrives: boolean; after: string } | undefined;
  /** The connections on which what comes before the trap was sent. */
  private seen = new WeakSet<Socket>();

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
      near.on('data', (data) => {
        link.forward(data, near, far);
      });
      far.pipe(near);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        link.sockets.add(socket);
        socket.on('end', () => other.end());
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

  /**
   * Breaks the next connection on which the client sends this text, at that moment. The server still gets the text and
   * acts on it (`arrives`), or never does; the client gets no answer either way. `after`: only where this was sent before.
   */
  breakAt(text: string, { arrives, after = '' }: { arrives: boolean; after?: string }): void {
    this.seen = new WeakSet();
    this.trap = { text, arrives, after };
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

  private forward(data: Buffer, near: Socket, far: Socket): void {
    const { trap } = this;
    if (trap && data.includes(trap.after)) this.seen.add(near);
    if (!trap || !this.seen.has(near) || !data.includes(trap.text)) {
      far.write(data);
      return;
    }
    this.trap = undefined;
    far.unpipe(near);
    if (!trap.arrives) {
      near.destroy();
      far.destroy();
      return;
    }
    // The server's answer says that it is done; the client is to miss it.
    far.once('data', () => {
      near.destroy();
      far.destroy();
    });
    far.resume();
    far.write(data);
  }
}
