import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const types = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
} as const;
const names = ['style.css', 'console.js', 'icon.svg'] as const;

const files = new Map(
  names.map((name) => {
    const content = readFileSync(new URL(`./static/${name}`, import.meta.url));
    const version = createHash('sha256').update(content).digest('hex').slice(0, 12);
    return [name, { content, version }] as const;
  }),
);

/** The address of a static file. It changes with the content, so that browsers may keep the file. */
export function staticAddress(name: (typeof names)[number]): string {
  return `/static/${name}?v=${files.get(name)?.version ?? ''}`;
}

export function staticFiles(app: FastifyInstance): void {
  for (const [name, { content }] of files) {
    const type = types[name.slice(name.lastIndexOf('.') + 1) as keyof typeof types];
    app.get(`/static/${name}`, (_request, reply) =>
      reply.header('cache-control', 'public, max-age=31536000, immutable').type(type).send(content),
    );
  }
}
