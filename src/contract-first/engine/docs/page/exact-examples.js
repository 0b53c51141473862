/** Keeps large integers exact: Swagger UI would round those above 2^53 in the contract. Here they become bigint. */
const MARK = '\u0000bigint:';

/** Swagger UI's resolver of references refuses bigint, so it gets marked strings. */
const toMarked = (value) => (typeof value === 'bigint' ? `${MARK}${value}` : value);

const toBigInt = (value) => (String(value).startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value);

/** A copy of the document, with `change` applied to each of its values. */
function copy(node, change) {
  if (Array.isArray(node)) return node.map((item) => copy(item, change));
  if (typeof node !== 'object' || node === null) return change(node);
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, copy(value, change)]));
}

/** A reviver for JSON.parse. Browsers pass the source text of a number since 2025; older ones round it. */
function keepInteger(_name, value, context) {
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && /^-?\d+$/.test(context?.source) ? BigInt(context.source) : value;
}

BigInt.prototype.toJSON = function toJSON() {
  return JSON.rawJSON(this.toString());
};

export default {
  afterLoad() {
    const { resolveSubtree } = this.fn;
    this.fn.resolveSubtree = async (document, ...rest) => {
      const { spec, ...others } = await resolveSubtree(copy(document, toMarked), ...rest);
      return { spec: copy(spec, toBigInt), ...others };
    };
  },
  statePlugins: {
    spec: {
      wrapActions: {
        parseToJson(_original, { specActions }) {
          return (text) => specActions.updateJsonSpec(JSON.parse(text, keepInteger));
        },
      },
    },
  },
};
