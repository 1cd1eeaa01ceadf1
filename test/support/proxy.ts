import { createServer, type Server, Socket } from 'node:net';

interface Target {
  host: string;
  port: number;
}

/** A TCP proxy whose connections a test can cut: the client loses its answer, and the server continues. */
export class TcpProxy {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  #port = 0;
  #target: Target;

  constructor(target: Target) {
    this.#target = target;
    this.#server = createServer((client) => {
      const server = this.#connect(client, this.#target);
      this.#clients.add(client);
      client.on('close', () => this.#clients.delete(client));
      client.on('error', () => server.destroy());
      client.pipe(server);
      server.pipe(client);
    });
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The number of open connections. */
  get busy(): number {
    return this.#clients.size;
  }

  async listen(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    this.#port = address.port;
  }

  /** Connects to another server from now on, and cuts existing connections. */
  leadTo(target: Target): void {
    this.#target = target;
    this.cut();
  }

  /** Cuts all connections, so that no answer under way arrives. Returns their number. */
  cut(): number {
    const clients = [...this.#clients];
    for (const client of clients) {
      client.unpipe();
      client.destroy();
    }
    return clients.length;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #connect(client: Socket, target: Target): Socket {
    const server = new Socket();
    server.connect(target);
    // If the client is cut off, the server keeps its request, because it notices the loss only when it answers.
    server.on('error', () => client.destroy());
    server.on('close', () => client.destroy());
    return server;
  }
}
