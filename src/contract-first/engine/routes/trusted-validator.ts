/** Starts fastify-openapi-glue without its own check of the contract. */
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Document } from '../contract/document.ts';

const { validate } = Validator.prototype;

/**
 * Begins work whose own validator accepts its document unseen. fastify-openapi-glue makes a validator for each contract, which would
 * compile OpenAPI's schema again, a third of a start, and has no option against it; its contract was checked before, at this start or at
 * build time. glue calls its validator before it first waits, so the real one is back before anything else can run.
 */
export function beginTrusted<Made>(begin: () => Made): Made {
  Validator.prototype.validate = trust;
  try {
    return begin();
  } finally {
    Validator.prototype.validate = validate;
  }
}

async function trust(this: Validator, document: Document) {
  this.specification = document;
  this.version = document.openapi.slice(0, '3.1'.length);
  return { valid: true };
}
