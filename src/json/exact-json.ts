/**
 * JSON (RFC 8259) in, without loss. Integers above 2^53 become `bigint`; a number that a double would round to an
 * integer becomes NaN, which no schema accepts; objects have no prototype, so that `__proto__` is a field like any
 * other; the same name twice in one object is an error (RFC 8259, section 4, leaves its meaning open), and so is half a
 * surrogate pair, which is not a character (RFC 8259, section 8.2; RFC 7493, section 2.1).
 */

const MAX_DEPTH = 64;

const MAX_INT64_DIGITS = 19;

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** The tokens of JSON text that JSON.parse has accepted: punctuation, strings, and everything else. */
const TOKEN = /[{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+/g;

/** @throws SyntaxError, in words that may be shown to the client */
export function parseExactJson(text: string): unknown {
  try {
    JSON.parse(text);
  } catch {
    throw new SyntaxError('is not well-formed JSON');
  }
  const tokens = text.match(TOKEN) as string[];
  let next = 0;

  function value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new SyntaxError(`is nested deeper than ${MAX_DEPTH} levels`);
    const token = tokens[next++] as string;
    if (token === '{') return object(depth);
    if (token === '[') return array(depth);
    return token[0] === '-' || (token >= '0' && token < ':') ? number(token) : scalar(token);
  }

  function object(depth: number): object {
    const result = Object.create(null);
    while (tokens[next] !== '}') {
      if (tokens[next] === ',') next++;
      const name = scalar(tokens[next] as string) as string;
      if (name in result) throw new SyntaxError(`has the field ${JSON.stringify(name)} twice`);
      next += 2;
      result[name] = value(depth + 1);
    }
    next++;
    return result;
  }

  function array(depth: number): unknown[] {
    const result: unknown[] = [];
    while (tokens[next] !== ']') {
      if (tokens[next] === ',') next++;
      result.push(value(depth + 1));
    }
    next++;
    return result;
  }

  return value(0);
}

/** A string, which most often has no escapes, or one of the three literals. */
function scalar(token: string): unknown {
  if (!token.includes('\\')) return token[0] === '"' ? token.slice(1, -1) : JSON.parse(token);
  const text: string = JSON.parse(token);
  if (!text.isWellFormed()) throw new SyntaxError('has half a surrogate pair in a string');
  return text;
}

function number(token: string): number | bigint {
  const double = Number(token);
  if (token.length < 16 && !/e/i.test(token)) return double;
  const integer = integerDigits(token);
  if (integer !== undefined) return Number.isSafeInteger(double) ? double : BigInt(integer);
  return Number.isInteger(double) && Math.abs(double) < 2 ** 64 ? Number.NaN : double;
}

/** The plain digits of a number that is an integer of at most 19 digits, however it is written: `1.20e2` is `120`. */
function integerDigits(token: string): string | undefined {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(token) as RegExpExecArray;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return '0';
  const point = digits.length - fraction.length + Number(exponent);
  if (point < 0 || point > MAX_INT64_DIGITS || /[1-9]/.test(digits.slice(point))) return undefined;
  return `${sign}${digits.slice(0, point).padEnd(point, '0')}`;
}
