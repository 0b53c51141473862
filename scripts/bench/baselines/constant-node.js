/** Constant text from node:http: as fast as a server on Node can be that does nothing. */
import { createServer } from 'node:http';
import { LIST } from './constant-list.js';

const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(LIST) };

createServer((_request, response) => response.writeHead(200, headers).end(LIST)).listen(process.env.PORT, '127.0.0.1');
