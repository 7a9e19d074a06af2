/** YAML files checked against a schema: every fault is reported, with its line and its path in the file. */
import { type Static, type TProperties, type TSchema, Type } from "typebox";
import { Settings } from "typebox/system";
import { Errors } from "typebox/value";
import { type Document, isMap, isNode, isPair, LineCounter, parseDocument } from "yaml";

export interface FileFault {
  /** From 1; undefined for a fault of the whole file. */
  readonly line: number | undefined;
  readonly message: string;
}

export class InvalidFile extends Error {
  override name = "InvalidFile";
  readonly faults: readonly FileFault[];

  constructor(file: string, faults: readonly FileFault[]) {
    const lines = faults.map(
      ({ line, message }) => `  ${file}${line === undefined ? "" : `:${line}`}  ${message}`,
    );
    super(`${file} has ${faults.length === 1 ? "1 fault" : `${faults.length} faults`}:\n${lines.join("\n")}`);
    this.faults = faults;
  }
}

/** An object without unknown members. */
export const closedObject = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

/**
 * Parses YAML 1.2. A member given twice is a fault, and so is an unknown one: a typing error must not count as "not set".
 * @throws InvalidFile naming every fault
 */
export function parseYaml<Schema extends TSchema>(
  schema: Schema,
  text: string,
  file: string,
): Static<Schema> {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: true, version: "1.2", merge: false });
  const lineAt = (position = 0) => lineCounter.linePos(position).line;
  const syntaxFaults = [...document.errors, ...document.warnings].map(({ message, pos }) => ({
    line: lineAt(pos[0]),
    message: message.split("\n", 1)[0] ?? message,
  }));
  if (syntaxFaults.length > 0) throw new InvalidFile(file, syntaxFaults);
  const value: unknown = document.toJS();
  const faults = schemaFaults(schema, value).map(({ path, message }) => ({
    line: lineAt(positionOf(document, path)),
    message: `${path.length === 0 ? "the file" : path.join(".")} ${message}`,
  }));
  faults.sort((a, b) => a.line - b.line);
  if (faults.length > 0) throw new InvalidFile(file, faults);
  return value as Static<Schema>;
}

type Path = readonly string[];
type SchemaError = ReturnType<typeof Errors>[number];

function schemaFaults(schema: TSchema, value: unknown): Array<{ path: Path; message: string }> {
  const errors = allErrors(schema, value);
  // Of a union only its own error counts, not those of its branches.
  const branches = errors.flatMap(({ keyword, schemaPath }) =>
    keyword === "anyOf" ? [`${schemaPath}/anyOf/`] : [],
  );
  const faults = errors
    // "boolean" is the schema `false` of an unknown member, which "additionalProperties" names.
    .filter(({ keyword }) => keyword !== "boolean")
    .filter(({ schemaPath }) => !branches.some((branch) => schemaPath.startsWith(branch)))
    .flatMap((error) => {
      const path = error.instancePath.split("/").slice(1).map(unescapePointer);
      const { keyword, params } = error;
      if (keyword === "required")
        return params.requiredProperties.map((name) => ({ path: [...path, name], message: "is missing" }));
      if (keyword !== "additionalProperties")
        return [{ path, message: describe(error, schemaAt(schema, error)) }];
      const known = Object.keys(schemaAt(schema, error)["properties"] ?? {}).join(", ");
      const message = `is not known; known here: ${known}`;
      return params.additionalProperties.map((name) => ({ path: [...path, name], message }));
    });
  // One fault per member: a second one says the same in other words.
  return [...new Map(faults.reverse().map((fault) => [fault.path.join("/"), fault])).values()].reverse();
}

/** By default TypeBox stops after eight errors. */
function allErrors(schema: TSchema, value: unknown): SchemaError[] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: 1_000 });
  try {
    return Errors(schema, value);
  } finally {
    Settings.Set({ maxErrors });
  }
}

const unescapePointer = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

type Keywords = Readonly<Record<string, unknown>>;

function schemaAt(schema: TSchema, { schemaPath }: SchemaError): Keywords {
  const parts = schemaPath.split("/").slice(1);
  return parts.reduce((inner, part) => (inner[part] ?? {}) as Keywords, schema as Keywords);
}

function describe(error: SchemaError, { description, type }: Keywords): string {
  if (error.keyword === "minItems") return `must have at least ${error.params.limit} item`;
  if (typeof description === "string") return `must be ${description}`;
  if (error.keyword === "enum") return `must be one of ${error.params.allowedValues.join(", ")}`;
  if (type === "object") return "must be a map of members";
  if (type === "array") return "must be a list, e.g. [one, two]";
  return type === "boolean" ? "must be true or false" : error.message;
}

/** Where a member's name stands, or the nearest thing around it. */
function positionOf(document: Document, path: Path): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const name = path[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && String(item.key) === name);
      if (isNode(pair?.key) && pair.key.range) return pair.key.range[0];
    }
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return undefined;
}
