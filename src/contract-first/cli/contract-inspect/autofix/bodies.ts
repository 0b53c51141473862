/** Request bodies that are not JSON: forms are read field by field, and what the server could not check is passed on as it is. */
import { stringify } from 'lossless-json';
import { checkRawBody, isForm, kindOf, toTypes } from '../../../contract/read/bodies.ts';
import { buildResolve } from '../../../contract/schema/references.ts';
import type { MediaNode } from '../../../engine/contract/document.ts';
import { isJson } from '../../../engine/contract/replies.ts';
import { kindOfPart, partOf } from '../../../engine/requests/form-fields.ts';
import { isNode, type Keywords, keywordsOf, type Schema } from '../../../engine/schema/json.ts';
import { ANNOTATION, lookUp } from '../../../engine/schema/keys.ts';
import { toStep } from '../../../json/pointer.ts';
import type { Node } from './unused-components.ts';
import { follow, operationsIn, type ReportChange } from './written-operations.ts';

/** Keywords of parts that can be written as one. A form is never null. */
const JOINED = /^(type|properties|required|allOf|nullable)$/;

export function fixBodies(document: Node, report: ReportChange): void {
  const resolve = buildResolve(document);
  const resolved = (schema: unknown) => resolve((schema ?? {}) as Schema, () => {});
  const done = new Set<unknown>();
  for (const { method, operation } of operationsIn(document)) {
    const { node, at } = follow(document, operation.node.requestBody, `${operation.at}/requestBody`);
    if (/get|head/.test(method) || !isNode(node.content) || done.has(node)) continue;
    done.add(node);
    fixContent(node.content, `${at}/content`);
  }

  function fixContent(content: Node, at: string): void {
    const types = typesOf(content).filter(({ media }) => isNode(media));
    // Beside JSON, the server takes no type that it could not check.
    if (types.some(({ type }) => isJson(type))) return;
    for (const { type, media } of types) {
      const schema = resolved(media.schema);
      const place = `${at}/${toStep(type)}/schema`;
      const passOn = () => {
        media.schema = { type: 'string', format: 'binary' };
        report(`${place} is written as format: binary: the handler gets ${type} as it is, unchecked`);
      };
      if (kindOf(type, schema) === 'bytes') checkRawBody(schema, type, '', passOn);
      else if (!isForm(schema) || keywordsOf(schema).nullable) fixForm(media, place, passOn);
    }
  }

  /** The fields of all parts are named at the schema itself; a form without fields is passed on. */
  function fixForm(media: MediaNode, place: string, passOn: () => void): void {
    const parts = partsOf(document, media.schema);
    const fields = fieldsOf(parts);
    const isOne = parts.every((part) => Object.keys(part).every((key) => JOINED.test(key) || ANNOTATION.test(key)));
    const hasFiles = fields.some(([, field]) => kindOfPart(partOf(resolved(field))) === 'file');
    const isTyped = parts.every(({ type = 'object' }) => [type].flat().includes('object'));
    const isJoined = isOne && new Set(fields.map(([name]) => name)).size === fields.length;
    if (fields.length === 0 || !isTyped || (hasFiles && !isJoined)) {
      passOn();
      return;
    }
    const properties = Object.fromEntries(fields.map(([name]) => [name, joined(fields, name)]));
    const required = parts.flatMap(({ required: names = [] }) => names);
    media.schema = { ...(isJoined ? { required } : { allOf: [media.schema as Schema] }), type: 'object', properties };
    report(`${place} names the fields of its parts: a form is checked field by field`);
  }
}

const typesOf = (content: Node) => toTypes(content as Record<string, MediaNode>, '', () => {});

/** A schema with those that describe the same value, as they are written, each once. */
function partsOf(document: Node, schema: unknown, seen = new Set<unknown>()): Keywords[] {
  if (!isNode(schema) || seen.has(schema)) return [];
  seen.add(schema);
  const { $ref, ...own } = schema;
  const { allOf = [], anyOf = [], oneOf = [] } = own as Keywords;
  const inner = [lookUp(document, $ref), allOf, anyOf, oneOf].flat();
  return [own, ...inner.flatMap((part) => partsOf(document, part, seen))];
}

const fieldsOf = (parts: Keywords[]): [string, Schema][] =>
  parts.flatMap(({ properties = {} }) => Object.entries(properties));

function joined(fields: [string, Schema][], name: string): Schema {
  const all = fields.filter(([other]) => other === name).map(([, schema]) => [stringify(schema), schema] as const);
  const [first, ...others] = new Map(all).values();
  return others.length > 0 ? { anyOf: [first as Schema, ...others] } : (first as Schema);
}
