/** Builds an example value for a schema: the schema's own example, else one by member name and type. */
import { createHash } from "node:crypto";
import type { JsonSchema } from "./openapi.ts";
import { resolveReference } from "./schemas.ts";

const textsByName: Readonly<Record<string, string>> = {
  email: "ada@acme.example",
  password: "plum tractor ninety",
  newpassword: "walnut orbit seventeen",
  firstname: "Ada",
  givenname: "Ada",
  surname: "Lovelace",
  familyname: "Lovelace",
  displayname: "Orders",
  phone: "+4512345678",
  phonenumber: "+4512345678",
  username: "ada",
  preferredusername: "ada",
  name: "Shop",
  key: "sgn_sk_…",
  url: "https://shop.example/",
  hint: "k3Qz",
  label: "autumn",
  cursor: "MDE5OThkNmUtN2E0MA",
  nextcursor: "MDE5OThkNmUtN2E0MA",
  limit: "50",
  createdby: "operator",
  grantedby: "operator",
  assignedby: "operator",
};

type Named = Readonly<Record<string, JsonSchema>>;

/** @param name the member that holds the value */
export function buildExample(schema: JsonSchema, named: Named, name = ""): unknown {
  const resolved = resolveReference(schema, named);
  if (resolved.examples && resolved.examples.length > 0) return resolved.examples[0];
  if (resolved.default !== undefined) return resolved.default;
  if (resolved.const !== undefined) return resolved.const;
  if (resolved.enum) return resolved.enum[0];
  if (resolved.allOf)
    return Object.assign({}, ...resolved.allOf.map((part) => buildExample(part, named, name)));
  if (resolved.anyOf) {
    const choice = resolved.anyOf.find(({ type }) => type !== "null");
    return choice ? buildExample(choice, named, name) : null;
  }
  return exampleByType(resolved, named, name);
}

function exampleByType(schema: JsonSchema, named: Named, name: string): unknown {
  const [type] = [schema.type ?? (schema.properties ? "object" : "")].flat();
  switch (type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([member, one]) => [
          member,
          buildExample(one, named, member),
        ]),
      );
    case "array":
      return schema.items ? [buildExample(schema.items, named, name.replace(/s$/, ""))] : [];
    case "string":
      return exampleText(schema, name);
    case "integer":
    case "number":
      return Math.max(schema.minimum ?? 0, Math.min(schema.maximum ?? 3600, 3600));
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return {};
  }
}

function exampleText({ format }: JsonSchema, name: string): string {
  if (format === "uuid") return exampleUuid(name);
  if (format === "date-time") return "2027-01-31T12:00:00.000Z";
  if (format === "uri") return "https://shop.example/";
  return textsByName[name.replaceAll("_", "").toLowerCase()] ?? "text";
}

/** Derived from the name: one id per member name, so different records have different ids. */
function exampleUuid(name: string): string {
  const digits = createHash("sha256").update(name.toLowerCase()).digest("hex");
  return `01998d6e-${digits.slice(0, 4)}-7${digits.slice(4, 7)}-8${digits.slice(7, 10)}-${digits.slice(10, 22)}`;
}
