/** An example for a schema: what its author gave, else what the member's name and its form suggest. */
import { createHash } from "node:crypto";
import type { JsonSchema } from "./openapi.ts";
import { resolved } from "./schemas.ts";

const texts: Readonly<Record<string, string>> = {
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

/** @param name the member that the value is for */
export function exampleOf(schema: JsonSchema, named: Named, name = ""): unknown {
  const shown = resolved(schema, named);
  if (shown.examples && shown.examples.length > 0) return shown.examples[0];
  if (shown.default !== undefined) return shown.default;
  if (shown.const !== undefined) return shown.const;
  if (shown.enum) return shown.enum[0];
  if (shown.allOf) return Object.assign({}, ...shown.allOf.map((part) => exampleOf(part, named, name)));
  if (shown.anyOf) {
    const choice = shown.anyOf.find(({ type }) => type !== "null");
    return choice ? exampleOf(choice, named, name) : null;
  }
  return plainExample(shown, named, name);
}

function plainExample(schema: JsonSchema, named: Named, name: string): unknown {
  const [type] = [schema.type ?? (schema.properties ? "object" : "")].flat();
  switch (type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([member, one]) => [
          member,
          exampleOf(one, named, member),
        ]),
      );
    case "array":
      return schema.items ? [exampleOf(schema.items, named, name.replace(/s$/, ""))] : [];
    case "string":
      return textOf(schema, name);
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

function textOf({ format }: JsonSchema, name: string): string {
  if (format === "uuid") return uuidFor(name);
  if (format === "date-time") return "2027-01-31T12:00:00.000Z";
  if (format === "uri") return "https://shop.example/";
  return texts[name.replaceAll("_", "").toLowerCase()] ?? "text";
}

/** The same for the same name, so that an example tells ids of different things apart. */
function uuidFor(name: string): string {
  const digits = createHash("sha256").update(name.toLowerCase()).digest("hex");
  return `01998d6e-${digits.slice(0, 4)}-7${digits.slice(4, 7)}-8${digits.slice(7, 10)}-${digits.slice(10, 22)}`;
}
