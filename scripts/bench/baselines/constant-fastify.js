/** Constant text from a bare Fastify: the same with a router and a reply's life around it. */
import fastify from 'fastify';
import { LIST } from './constant-list.js';

const app = fastify();
app.get('/v1/pets', (_request, reply) => reply.type('application/json; charset=utf-8').send(LIST));
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
