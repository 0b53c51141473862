/** Writes replies that Fastify's serializer cannot: it does not know which alternative a bigint belongs to. */
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifySerializerCompiler } from 'fastify';
import { stringify } from 'lossless-json';
import type { Json, Operation, Refuse, Reply } from '../contract/contract.ts';
import { mapSubschemas } from '../contract/subschemas.ts';
import { buildToBigints } from './bigints.ts';
import type { CompileReply } from './compilation.ts';

type WriterCompiler = FastifySerializerCompiler<unknown>;

/** Undefined where Fastify's own serializer works: it is faster, and leaves out what the contract does not declare. */
export function buildWriters(
  compileReply: CompileReply,
  { replies }: Operation,
  refuse: Refuse,
): WriterCompiler | undefined {
  if (!replies.some(hasInt64Choice)) return undefined;
  const writers = new Map(
    replies.map((reply) => [reply.status.toLowerCase(), buildWriter(compileReply(reply, refuse))]),
  );
  return ({ httpStatus }) => writers.get(httpStatus as string) as (body: unknown) => string;
}

/** Writes every digit, and throws where the body is not what the contract declares. */
function buildWriter(validate: ValidateFunction): (body: unknown) => string {
  return (body) => {
    if (!validate(body)) throw new Error(`The answer breaks the contract: ${JSON.stringify(validate.errors)}`);
    return stringify(body) as string;
  };
}

function hasInt64Choice({ schema, int64s }: Reply): boolean {
  return buildToBigints(int64s) !== undefined && hasChoice(schema);
}

function hasChoice(schema: Json): boolean {
  if (['oneOf', 'anyOf', 'if'].some((keyword) => keyword in schema) || Array.isArray(schema.type)) return true;
  let isInside = false;
  mapSubschemas(schema, (subschema) => {
    isInside ||= typeof subschema === 'object' && hasChoice(subschema);
  });
  return isInside;
}
