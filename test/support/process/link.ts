import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/**
 * Delivery of the text at which a connection breaks. With `false` the server never receives it. With `true` the
 * connection breaks after the server has responded, with 'at once' before that. The client never receives the response.
 */
export type Arrival = boolean | 'at once';

interface Trap {
  text: string;
  arrives: Arrival;
  after: string;
}

/** A TCP proxy to a server, whose connections can be cut and restored. */
export class Link {
  private readonly sockets = new Set<Socket>();
  private traps: Trap[] = [];
  /** Connections on which the text `after` of the trap was sent. */
  private seen = new WeakSet<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly port: number,
  ) {}

  /** Opens a link to the server of a URL. */
  static async open(url: string): Promise<Link> {
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

  /** Returns the URL with host and port of this link. */
  rewriteUrl(url: string): string {
    const other = new URL(url);
    other.hostname = '127.0.0.1';
    other.port = String(this.port);
    return other.href;
  }

  /**
   * Breaks the next connection on which the client sends this text, or one connection for each of several arrivals.
   * With `after`, only connections count on which that text was sent before. Replaces pending breaks of an earlier
   * call.
   */
  breakAt(
    text: string,
    { arrives, after = '' }: { arrives: Arrival | readonly Arrival[]; after?: string },
  ): void {
    this.seen = new WeakSet();
    this.traps = [arrives].flat().map((arrival) => ({ text, arrives: arrival, after }));
  }

  /** Cancels the pending breaks. */
  clearTraps(): void {
    this.traps = [];
  }

  /** Breaks all connections. New connections remain possible. */
  breakAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Breaks all connections and refuses new ones until `restore` is called. */
  async cut(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.breakAll();
    await closed;
  }

  async restore(): Promise<void> {
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
    // The response shows that the server has finished. The client must not receive it.
    if (trap.arrives === true) far.once('data', end);
    else setImmediate(end);
    far.resume();
    far.write(data);
  }
}
