import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/**
 * Fate of the text at which a connection breaks: the server never gets the text, or acts on it. The connection breaks when the
 * server has answered, or at once. The client never gets the answer.
 */
export type Arrival = boolean | 'at once';

interface Trap {
  text: string;
  arrives: Arrival;
  after: string;
}

/** A TCP connection to a server that can be cut and restored. */
export class Link {
  private readonly sockets = new Set<Socket>();
  private traps: Trap[] = [];
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
        socket.setNoDelay(true);
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
   * Breaks the next connection on which the client sends this text, at that moment, or one for each of several arrivals.
   * `after`: only where this was sent before. Replaces the breaks of an earlier call that are still to come.
   */
  breakAt(
    text: string,
    { arrives, after = '' }: { arrives: Arrival | readonly Arrival[]; after?: string },
  ): void {
    this.seen = new WeakSet();
    this.traps = [arrives].flat().map((each) => ({ text, arrives: each, after }));
  }

  /** Stops breaking connections at a text. */
  calm(): void {
    this.traps = [];
  }

  /** Breaks all connections. New connections are possible. */
  breakAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** From now on nothing passes, and no new connection is made. */
  async cut(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.breakAll();
    await closed;
  }

  async mend(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  private forward(data: Buffer, near: Socket, far: Socket): void {
    const [trap] = this.traps;
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    if (trap && data.includes(trap.after)) this.seen.add(near);
    if (!trap || !this.seen.has(near) || !data.includes(trap.text)) {
      far.write(data);
      return;
    }
    this.traps.shift();
    far.unpipe(near);
    if (trap.arrives === false) {
      end();
      return;
    }
    // The server's answer says that it is done; the client is to miss it.
    if (trap.arrives === true) far.once('data', end);
    else setImmediate(end);
    far.resume();
    far.write(data);
  }
}
