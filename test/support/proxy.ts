import { createServer, type Server, Socket } from 'node:net';

interface Target {
  host: string;
  port: number;
}

/** A TCP proxy whose connections can be cut: the client loses its answer, and the server works on. */
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

  /** Connections under way. */
  get busy(): number {
    return this.#clients.size;
  }

  async listen(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    this.#port = address.port;
  }

  /** Leads to another server from now on; connections to the one before are cut. */
  leadTo(target: Target): void {
    this.#target = target;
    this.cut();
  }

  /** Takes the answers of all requests that are under way. */
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
    // A client that was cut off leaves its request to the server, which would not notice before it answers.
    server.on('error', () => client.destroy());
    server.on('close', () => client.destroy());
    return server;
  }
}
