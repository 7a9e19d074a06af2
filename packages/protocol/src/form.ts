/** Form bodies and query strings: one value per name, duplicates listed. */
import { OAuthError, printableDescription } from "./oauth/oauth-error.ts";

/** The parameters of one form body or query string. */
export interface Form {
  /** Name to value, the first value where a name came more than once. A parameter without a value is not in it. */
  readonly values: ReadonlyMap<string, string>;
  /** The names that came more than once. */
  readonly repeated: ReadonlySet<string>;
  /** All values, in order, of each repeated name; a name that came once is only in `values`. */
  readonly allValues: ReadonlyMap<string, readonly string[]>;
}

/** As many parameters as a request of a protocol may have. */
export const MAX_PARAMETERS = 100;

const nothingRepeated: Pick<Form, "repeated" | "allValues"> = { repeated: new Set(), allValues: new Map() };
const repeatable: ReadonlySet<string> = new Set(["resource"]); // RFC 8707 §2

/**
 * Reads application/x-www-form-urlencoded text: a request body, or a query string without its `?`.
 * @throws OAuthError invalid_request for a malformed escape, invalid UTF-8, a NUL, or more than `maxParameters` (MAX_PARAMETERS)
 */
export function parseForm(body: string, limits: { maxParameters?: number } = {}): Form {
  const maxParameters = limits.maxParameters ?? MAX_PARAMETERS;
  refuseUnreadable(body);
  const read = body.includes("%") || body.includes("+") ? decode : (text: string) => text;
  const values = new Map<string, string>();
  let allValues: Map<string, string[]> | undefined;
  let count = 0;
  for (let start = 0, end = 0; start < body.length; start = end + 1) {
    end = body.indexOf("&", start);
    if (end === -1) end = body.length;
    if (end === start) continue;
    if (++count > maxParameters) throw invalid("too many parameters");

    const equals = body.indexOf("=", start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    const name = read(body.slice(start, nameEnd));
    const value = read(body.slice(nameEnd + 1, end));
    // RFC 6749 §3.1: a parameter without a value is treated as if it were omitted.
    if (value === "") continue;
    const first = values.get(name);
    if (first === undefined) values.set(name, value);
    else {
      allValues ??= new Map();
      const all = allValues.get(name);
      if (all) all.push(value);
      else allValues.set(name, [first, value]);
    }
  }
  return allValues
    ? { values, repeated: new Set(allValues.keys()), allValues }
    : { values, ...nothingRepeated };
}

/**
 * RFC 6749 §3.1: a parameter must not be repeated. @throws OAuthError invalid_request if one of `names` is; without `names`, if
 * any is but `resource` (RFC 8707)
 */
export function requireSingle(form: Form, names?: readonly string[]): void {
  if (form.repeated.size === 0) return;
  for (const name of form.repeated) {
    if (names ? names.includes(name) : !repeatable.has(name))
      throw invalid(`the parameter ${printableDescription(name.slice(0, 64))} came more than once`);
  }
}

/** One name or value decoded: `+` is a space, the rest is percent-encoded UTF-8; undefined when it is malformed. */
export function decodeFormComponent(text: string): string | undefined {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}

function decode(text: string): string {
  const decoded = decodeFormComponent(text);
  if (decoded === undefined) throw invalid("a parameter is not valid percent-encoded UTF-8");
  return decoded;
}

/** Bytes that were not UTF-8 arrive here as U+FFFD; a NUL has no place in any parameter and cuts strings short elsewhere. */
function refuseUnreadable(body: string): void {
  if (body.includes("\uFFFD") || !body.isWellFormed()) throw invalid("the parameters are not valid UTF-8");
  if (body.includes("%00") || body.includes("\0")) throw invalid("a parameter holds a NUL character");
}

const invalid = (description: string): OAuthError => new OAuthError("invalid_request", description);
