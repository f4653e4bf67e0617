import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** COM_QUERY, after the four bytes of the packet's header. */
const QUERY = 3;

/** When the connection breaks: before the server has the COMMIT, as soon as it was passed on, or when the server has answered. */
type Cut = 'before' | 'at once' | 'answered';

/** A TCP connection to a MariaDB that breaks during a COMMIT. */
export class CommitCutter {
  private readonly sockets = new Set<Socket>();
  private readonly next: Cut[] = [];
  /** How many COMMITs were cut. */
  cuts = 0;

  private constructor(private readonly server: Server) {}

  static async to(target: number): Promise<CommitCutter> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const cutter = new CommitCutter(server);
    server.on('connection', (near) => {
      cutter.join(near, connect(target, '127.0.0.1'));
    });
    return cutter;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The next COMMITs are cut, one after the other. */
  cut(...how: Cut[]): void {
    this.next.push(...how);
  }

  /** No further COMMIT is cut. */
  calm(): void {
    this.next.length = 0;
  }

  /** Breaks all connections. New ones can be made. */
  breakAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.breakAll();
    await closed;
  }

  private join(near: Socket, far: Socket): void {
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', () => {
        this.sockets.delete(socket);
        end();
      });
    }
    let answered = false;
    near.on('data', (chunk: Buffer) => {
      const cut = isCommit(chunk) ? this.next.shift() : undefined;
      if (cut !== undefined) this.cuts++;
      if (cut === 'before') {
        end();
        return;
      }
      if (cut === 'answered') answered = true;
      far.write(chunk);
      if (cut === 'at once') setImmediate(end);
    });
    far.on('data', (chunk: Buffer) => {
      if (answered) end();
      else near.write(chunk);
    });
  }
}

/** Whether a command packet, which clients write at once, is a COMMIT. */
function isCommit(chunk: Buffer): boolean {
  return chunk[4] === QUERY && chunk.subarray(5, 11).toString('latin1').toUpperCase() === 'COMMIT';
}
