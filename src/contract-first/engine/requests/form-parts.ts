/**
 * Reads the parts of a form (`multipart/form-data`, RFC 7578, or `application/x-www-form-urlencoded`). When a part
 * arrives, it is checked against the schema of its field.
 */
import { on } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BusboyInstance } from '@fastify/busboy';
import { NullProtoObject } from '../../json/exact-json.ts';
import type { Content } from '../contract/contract.ts';
import { HttpError, invalidRequest, TOO_LARGE } from '../errors/catalogue.ts';
import { problemAt } from '../errors/problem.ts';
import { onPartHeaders } from '../http/node-internals.ts';
import type { BuildCheck } from '../schema/checks.ts';
import type { ReportProblem } from '../schema/json.ts';
import {
  type Bytes,
  buildCheckForm,
  buildTakes,
  type FormPart,
  formFieldsOf,
  invalidPart,
  isFile,
  type Take,
} from './form-fields.ts';
import type { Values } from './parameter-values.ts';

/**
 * Yields the parts in the order of their arrival.
 * @throws HttpError for an invalid part, and at the end if a required part is missing
 */
export type ToParts = (bytes: Bytes, contentType: string) => AsyncIterable<FormPart>;

/**
 * The memory, in bytes, that all fields of one form may take, without files, and the overhead that is added for each
 * field.
 */
const MAX_FIELDS = 1024 * 1024;
const FIELD = 100;

/** Busboy's limits for the headers of a part: how many, and how many bytes. */
const HEADERS = { headerPairs: 20, headerSize: 8192 };

export function buildToParts(buildCheck: BuildCheck, content: Content, report: ReportProblem): ToParts {
  const takes = buildTakes(buildCheck, content);
  const checkAll = buildCheckForm(buildCheck, content.schema, report);
  const files = formFieldsOf(content.schema)
    .filter(([, field]) => isFile(field))
    .map(([name]) => toBytes(name));
  // @fastify/busboy is loaded here, so that services without forms do not load it.
  const { Busboy } = createRequire(import.meta.url)('@fastify/busboy') as typeof import('@fastify/busboy');

  return (bytes, contentType) => {
    try {
      const limits = { fieldSize: MAX_FIELDS, ...HEADERS };
      const isPartAFile = (name: string | undefined) => files.includes(name as string);
      const headers = { 'content-type': contentType.replace(CHARSET, '') };
      const busboy = new Busboy({ headers, limits, isPartAFile, defCharset: 'latin1' });
      return readParts(bytes, busboy, { takes, checkAll, charset: toCharset(contentType) });
    } catch (error) {
      throw toHttpError(error);
    }
  };
}

interface Form {
  takes: Map<string, Take>;
  checkAll: (given: Values) => void;
  /** The character set of parts that do not name their own. */
  charset: string | undefined;
}

async function* readParts(bytes: Bytes, busboy: BusboyInstance, form: Form): AsyncGenerator<FormPart> {
  const given: Values = new NullProtoObject();
  // Busboy may emit an error while nobody waits for a part. Without a listener, this error would stop the process.
  busboy.on('error', () => {});
  const arriving = takeAsTheyArrive(busboy, form, given);
  const parts = on(busboy, 'part', { close: ['finish'] });
  pipeline(bytes, busboy).catch((error) => arriving.file?.destroy(error));
  try {
    for await (const [part, stream] of parts) {
      yield part;
      stream?.resume();
    }
    // If the last field was invalid, the loop above has ended without an error, so the failure is thrown here.
    if (arriving.failure) throw arriving.failure;
  } catch (error) {
    throw toHttpError(error);
  } finally {
    busboy.destroy();
  }
  const sent = Object.keys(given);
  form.checkAll(given);
  for (const [name, value] of Object.entries(given)) {
    if (!sent.includes(name)) yield* [value].flat().map((item) => ({ name, value: item }));
  }
}

/** The state of a form that is being read: the file that is arriving, and the reason why the form was rejected. */
interface Arriving {
  file?: Readable;
  failure?: unknown;
  /** The character set of the part that is arriving. */
  charset: string | undefined;
}

/**
 * Checks each part as soon as it arrives, even if the handler has not taken it yet. So a form that exceeds its limits
 * is rejected early, and its parts cannot pile up while they wait for a slow handler.
 */
function takeAsTheyArrive(busboy: BusboyInstance, { takes, charset }: Form, given: Values): Arriving {
  const arriving: Arriving = { charset };
  let size = 0;

  function fail(failure: unknown): void {
    arriving.failure ??= failure;
    busboy.destroy(failure as HttpError);
  }

  function add(toPart: () => FormPart, stream?: Readable): void {
    try {
      const part = toPart();
      const take = takes.get(part.name);
      if (!take) throw invalidPart(part.name, 'unknown', 'is not a known field');
      take(part, given);
      busboy.emit('part', part, stream);
    } catch (error) {
      stream?.resume();
      fail(error);
    }
  }

  busboy.on('field', (name, value) => {
    size += value.length + FIELD;
    if (size > MAX_FIELDS) fail(new HttpError(...TOO_LARGE));
    // The type of `name` is wrong: a part may lack a name, and the name is then undefined.
    else if (!busboy.destroyed)
      add(() => ({ name: decode(String(name), name), value: decode(value, name, arriving.charset) }));
  });
  busboy.on('file', (name, stream, filename, _encoding, contentType) => {
    arriving.file = stream.on('error', () => {});
    if (busboy.destroyed) stream.resume();
    else {
      const content = readContent(stream);
      add(
        () => ({
          name: decode(String(name), name),
          filename: filename && decode(filename, name),
          contentType,
          content,
        }),
        stream,
      );
    }
  });
  keepBytes(busboy, arriving);
  return arriving;
}

/** Matches the character set in a content type. */
const CHARSET = /;\s*charset="?([^\s;"]*)"?/i;
const toCharset = (contentType: string): string | undefined => CHARSET.exec(contentType)?.[1];

/** Encodes a text in UTF-8, and returns each byte as one character. */
const toBytes = (text: string): string => Buffer.from(text).toString('latin1');

/**
 * Makes Busboy read all text as Latin-1, so that each byte becomes one character, and `decode` can decode the bytes
 * later. Otherwise Busboy would replace invalid bytes by U+FFFD.
 */
function keepBytes(busboy: BusboyInstance, arriving: Arriving): void {
  onPartHeaders(busboy, (headers) => {
    const { 'content-disposition': [disposition = ''] = [], 'content-type': [type = ''] = [] } = headers;
    arriving.charset = toCharset(type);
    headers['content-disposition'] = [toBytes(disposition)];
    headers['content-type'] = [type.replace(CHARSET, '')];
  });
}

/**
 * Decodes a text. Every character of the text represents one byte. `charset` is a name from the Encoding Standard.
 * @throws HttpError if the bytes are not valid in this character set
 */
function decode(bytes: string, name: string, charset = 'utf-8'): string {
  try {
    return new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    throw invalidPart(name, 'charset', `has bytes that are not ${charset.toUpperCase()}`);
  }
}

async function* readContent(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* stream.iterator({ destroyOnReturn: false });
  } catch (error) {
    throw toHttpError(error);
  }
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  return invalidRequest([problemAt('/body', 'syntax', 'is not well-formed multipart/form-data')], error);
}
