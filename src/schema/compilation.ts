/** Compiles schemas to functions. A schema that does not compile is refused in one line. */
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { prepare } from './ajv.ts';
import { findInt64s } from './int64-places.ts';
import type { Json, Refuse } from './json.ts';
import { targetOf } from './recursion.ts';
import { mapSubschemas } from './subschemas.ts';

/** Compiles a prepared schema. `name` is the value's name in problems: `request` has its fault at `request.body.name`. */
export function compile(ajv: Ajv2020, schema: Json, name: string, refuse: Refuse): ValidateFunction {
  try {
    addRecursions(ajv, schema);
    return ajv.compile(schema);
  } catch (error) {
    // Without ajv's own words for the place.
    const message = (error as Error).message.replace(/ in schema at path .*|(?<= for: )data\d*\./, '');
    refuse(`${name}${findFault(ajv, schema)}: ${message}`);
    return ajv.compile(true);
  }
}

/** Adds the schemas that refer to themselves under their names, each with the keywords of its own places. */
function addRecursions(ajv: Ajv2020, schema: Json): void {
  const target = targetOf(schema);
  if (target && !ajv.schemas[schema.$ref]) {
    const prepared = prepare(
      target,
      findInt64s(target, schema.$ref, () => {}),
    );
    ajv.addSchema(prepared, schema.$ref);
    addRecursions(ajv, prepared);
  }
  mapSubschemas(schema, (subschema) => addRecursions(ajv, subschema));
}

/** The place of the innermost schema that cannot be compiled by itself. */
function findFault(ajv: Ajv2020, schema: Json): string {
  let fault = '';
  mapSubschemas(schema, (subschema, keyword, name) => {
    if (fault === '' && !isSound(ajv, subschema)) {
      const step = keyword === 'properties' ? [name] : [keyword, name].filter(Boolean);
      fault = `.${step.join('.')}${findFault(ajv, subschema)}`;
    }
  });
  return fault;
}

function isSound(ajv: Ajv2020, schema: Json): boolean {
  try {
    // Not as the root, where a default means nothing and is refused.
    ajv.compile({ properties: { value: schema } });
    return true;
  } catch {
    return false;
  }
}
