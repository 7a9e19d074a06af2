/** Validates a value against a schema; faults are named by their path. */
import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { invalid, type MemberFault } from "./api-error.ts";

const MAX_FAULTS = 20;

/** Compiled once, for the first value: a tenth of a start went to operations that nobody calls. The validator throws ApiError 422. */
export function validator<S extends TSchema>(schema: S, pathOf = (path: string) => path) {
  let compiledOnce: ReturnType<typeof Compile<S>> | undefined;
  return (value: unknown): Static<S> => {
    compiledOnce ??= Compile(schema);
    const compiled = compiledOnce;
    if (compiled.Check(value)) return value as Static<S>;
    throw invalid(faultsOf(compiled.Errors(value), pathOf));
  };
}

interface SchemaFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

function faultsOf(errors: readonly SchemaFault[], pathOf: (path: string) => string): MemberFault[] {
  const faults = errors.flatMap((fault) => {
    const {
      additionalProperties = [],
      requiredProperties = [],
      allowedValues,
    } = fault.params as {
      additionalProperties?: readonly string[];
      requiredProperties?: readonly string[];
      allowedValues?: readonly unknown[];
    };
    const at = (name: string) => pathOf(`${fault.instancePath}/${pointerPart(name)}`);
    // Reported together with `additionalProperties`, which has the better message.
    if (fault.keyword === "boolean") return [];
    if (fault.keyword === "additionalProperties")
      return additionalProperties.map((name) => ({
        path: at(name),
        message: "is unknown",
        isOfUnion: false,
      }));
    if (fault.keyword === "required")
      return requiredProperties.map((name) => ({ path: at(name), message: "is required", isOfUnion: false }));
    // An empty parameter stands for the default.
    const values = allowedValues?.filter((value) => value !== "");
    const message = values ? `must be one of ${values.join(", ")}` : fault.message;
    return [{ path: pathOf(fault.instancePath), message, isOfUnion: isUnionFault(fault) }];
  });
  const told = faults.filter(
    ({ path, isOfUnion: isSummary }) => !(isSummary && faults.some((one) => one.path.startsWith(`${path}/`))),
  );
  const seen = new Set<string>();
  const once = told.filter(({ path }) => !seen.has(path) && seen.add(path));
  return once.slice(0, MAX_FAULTS).map(({ path, message }) => ({ path, message }));
}

/** That an object is not null, or no branch of its union: what is wrong inside it says more. */
const isUnionFault = ({ keyword, params }: SchemaFault): boolean =>
  keyword === "anyOf" || (keyword === "type" && (params as { type?: unknown }).type === "null");

const pointerPart = (name: string) => name.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1");
