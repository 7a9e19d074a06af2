/** A YAML file with a schema. Whoever edits it by hand is told all faults at once, in words, each with its line. */
import type { Static, TSchema } from "typebox";
import { Check } from "typebox/value";
import { type Document, isMap, isNode, isPair, LineCounter, parseDocument } from "yaml";

export interface FileFault {
  /** From 1; undefined where the file is too broken to tell. */
  readonly line: number | undefined;
  readonly message: string;
}

export class InvalidFile extends Error {
  readonly faults: readonly FileFault[];

  constructor(name: string, faults: readonly FileFault[]) {
    const lines = faults.map(
      ({ line, message }) => `  ${name}${line === undefined ? "" : `:${line}`}  ${message}`,
    );
    super(`${name} has ${faults.length === 1 ? "a fault" : `${faults.length} faults`}:\n${lines.join("\n")}`);
    this.name = "InvalidFile";
    this.faults = faults;
  }
}

type Path = ReadonlyArray<string | number>;
interface SchemaFault {
  readonly path: Path;
  readonly message: string;
}

/**
 * The value of a YAML 1.2 text that has the form of its schema. Two members of one name are a fault, and so is every
 * member that the schema does not know: a word typed wrong must not be read as "nothing said".
 * @throws InvalidFile naming all faults
 */
export function parseYaml<Schema extends TSchema>(
  schema: Schema,
  text: string,
  name: string,
): Static<Schema> {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: true, version: "1.2", merge: false });
  const lineAt = (position: number | undefined) =>
    position === undefined ? undefined : lineCounter.linePos(position).line;
  const unreadable = [...document.errors, ...document.warnings].map(({ message, pos }) => ({
    line: lineAt(pos[0]),
    message: message.split("\n", 1)[0] ?? message,
  }));
  if (unreadable.length > 0) throw new InvalidFile(name, unreadable);
  const value: unknown = document.toJS();
  const faults = schemaFaults(schema, value, []).map(({ path, message }) => ({
    line: lineAt(positionOf(document, path)),
    message: `${path.length === 0 ? "the file" : path.join(".")} ${message}`,
  }));
  if (faults.length > 0) throw new InvalidFile(name, faults);
  if (!Check(schema, value))
    throw new InvalidFile(name, [{ line: undefined, message: "has not the right form" }]);
  return value;
}

/** Where a member's name stands, or the nearest thing around it. */
function positionOf(document: Document, path: Path): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const name = path[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && String(item.key) === String(name));
      if (isNode(pair?.key) && pair.key.range) return pair.key.range[0];
    }
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return undefined;
}

interface Keywords {
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly minItems?: number;
}

function schemaFaults(schema: TSchema, value: unknown, path: Path): SchemaFault[] {
  const keywords = schema as Keywords;
  const [each] = Object.values(keywords.patternProperties ?? {});
  if (keywords.properties || each) return objectFaults(keywords, each, value, path);
  if (keywords.items) return listFaults(keywords, keywords.items, value, path);
  return Check(schema, value) ? [] : [{ path, message: `must be ${wanted(keywords)}` }];
}

function objectFaults(
  { properties = {}, required = [], description }: Keywords,
  each: TSchema | undefined,
  value: unknown,
  path: Path,
): SchemaFault[] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [{ path, message: `must be ${description ?? "a map of members"}` }];
  const missing = required
    .filter((member) => !Object.hasOwn(value, member))
    .map((member) => ({ path: [...path, member], message: "is missing" }));
  const inside = Object.entries(value).flatMap(([member, inner]) => {
    const known = Object.hasOwn(properties, member) ? properties[member] : each;
    if (known) return schemaFaults(known, inner, [...path, member]);
    const names = Object.keys(properties).join(", ");
    return [{ path: [...path, member], message: `is not known; here may be: ${names}` }];
  });
  return [...missing, ...inside];
}

function listFaults({ minItems = 0 }: Keywords, items: TSchema, value: unknown, path: Path): SchemaFault[] {
  if (!Array.isArray(value)) return [{ path, message: "must be a list, e.g. [one, two]" }];
  if (value.length < minItems) return [{ path, message: `must have at least ${minItems} item` }];
  return value.flatMap((item, index) => schemaFaults(items, item, [...path, index]));
}

function wanted({ const: only, enum: choices, description, type }: Keywords): string {
  if (description !== undefined) return description;
  if (only !== undefined) return JSON.stringify(only);
  if (choices) return `one of ${choices.join(", ")}`;
  if (type === "boolean") return "true or false";
  return type === "string" ? "a text" : `of type ${type ?? "that the documentation names"}`;
}
