/** Swagger UI reads the contract into JavaScript's numbers. Here integers above 2^53 become bigint, and stay as written. */
const MARK = '\u0000bigint:';

/** As a string, for the resolver of references: it refuses bigint. */
const toMarked = (value) => (typeof value === 'bigint' ? `${MARK}${value}` : value);

const toBigInt = (value) => (String(value).startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value);

/** A copy of the document, with `change` applied to each of its values. */
function copy(node, change) {
  if (Array.isArray(node)) return node.map((item) => copy(item, change));
  if (typeof node !== 'object' || node === null) return change(node);
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, copy(value, change)]));
}

/** For JSON.parse. Browsers pass the source text of a number since 2025; older ones round it. */
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
