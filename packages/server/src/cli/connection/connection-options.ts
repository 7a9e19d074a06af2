/** What `signet connection create` and `update` ask for, as API v1 takes it. */
import { presetDefaults } from "../../core/connections/sign-in/presets.ts";
import {
  clientAuthMethods,
  emailTrusts,
  linkingModes,
  presets,
} from "../../core/connections/sign-in/sign-in-settings.ts";
import {
  definedOnly,
  type Options,
  optionalChoice,
  optionalText,
  type RecordCall,
  repeatedText,
  UsageError,
} from "../command.ts";
import { readOptionFile } from "../output.ts";
import type { Wire } from "../remote/api-types.ts";

const MAX_BYTES = 512 * 1024;
const deletionPolicies = ["disable", "delete"] as const;
export const connectionKinds = ["scim", "oidc", "saml", "oauth"] as const;

export const connectionOptions: Options = {
  issuer: { value: "URL", help: "OpenID provider's issuer, exactly as its ID tokens name it" },
  "client-id": { value: "ID", help: "client ID at the provider" },
  "client-secret-file": { value: "FILE", help: "file with the client secret" },
  "client-auth-method": { value: "METHOD", help: clientAuthMethods.join(", ") },
  scope: { value: "SCOPE", multiple: true, help: "what the provider is asked for; repeatable" },
  "metadata-url": { value: "URL", help: "where a SAML provider publishes its metadata" },
  "metadata-file": { value: "FILE", help: "a SAML provider's metadata" },
  linking: { value: "MODE", help: `${linkingModes.join(", ")}: to an account of the same address` },
  "email-trust": { value: "TRUST", help: `${emailTrusts.join(", ")}: when a claimed address counts` },
  "deletion-policy": {
    value: "POLICY",
    help: `${deletionPolicies.join(", ")}: users whom a directory deletes`,
  },
  settings: {
    value: "FILE",
    help: "JSON with further members as API v1 takes them, e.g. mapping, assurance",
  },
  enable: { help: "users can sign in by it, or the directory can call" },
  disable: { help: "nobody signs in by it" },
};

/** @throws UsageError, Error of a file */
export function readConnectionOptions({ values }: RecordCall): Wire {
  if (values.enable === true && values.disable === true) throw new UsageError("either --enable or --disable");
  const isSwitched = values.enable === true || values.disable === true;
  const [oidc, saml] = [readClient(values), readProvider(values)];
  const named = definedOnly({
    name: optionalText(values, "name"),
    enabled: isSwitched ? values.enable === true : undefined,
    oidc: Object.keys(oidc).length > 0 ? oidc : undefined,
    saml: Object.keys(saml).length > 0 ? saml : undefined,
    linking: optionalChoice(values, "linking", linkingModes),
    emailTrust: optionalChoice(values, "email-trust", emailTrusts),
    deletionPolicy: optionalChoice(values, "deletion-policy", deletionPolicies),
  });
  return merged(readSettings(values), named);
}

/** Those of a file first: an option that is typed goes before it, of `oidc` and `saml` member by member. */
function merged(settings: Wire, named: Wire): Wire {
  const both = Object.entries(named).map(([member, value]) => {
    const before = settings[member];
    return [member, isRecord(before) && isRecord(value) ? { ...before, ...value } : value];
  });
  return { ...settings, ...Object.fromEntries(both) };
}

const isRecord = (value: unknown): value is Wire =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The kind and the preset of a new connection, each of which tells the other. @throws UsageError */
export function readKind({ values }: RecordCall, settings: Wire): Wire {
  const preset = optionalChoice(values, "preset", presets);
  const asked = optionalChoice(values, "kind", connectionKinds);
  const kind = asked ?? settings["kind"] ?? (preset && presetDefaults[preset].kind);
  if (kind === undefined) throw new UsageError("--kind or --preset is required");
  return definedOnly({ kind, preset });
}

function readClient(values: RecordCall["values"]): Wire {
  const secretFile = optionalText(values, "client-secret-file");
  const scopes = repeatedText(values, "scope");
  return definedOnly({
    issuer: optionalText(values, "issuer"),
    clientId: optionalText(values, "client-id"),
    clientSecret: secretFile === undefined ? undefined : readText("client-secret-file", secretFile).trim(),
    tokenEndpointAuthMethod: optionalChoice(values, "client-auth-method", clientAuthMethods),
    scopes: scopes.length > 0 ? scopes : undefined,
  });
}

function readProvider(values: RecordCall["values"]): Wire {
  const [metadataUrl, file] = [optionalText(values, "metadata-url"), optionalText(values, "metadata-file")];
  if (metadataUrl !== undefined && file !== undefined)
    throw new UsageError("either --metadata-url or --metadata-file");
  return definedOnly({
    metadataUrl,
    metadataXml: file === undefined ? undefined : readText("metadata-file", file),
  });
}

function readSettings(values: RecordCall["values"]): Wire {
  const file = optionalText(values, "settings");
  if (file === undefined) return {};
  return readOptionFile("settings", file, MAX_BYTES, (bytes) => {
    const read: unknown = JSON.parse(bytes.toString());
    if (!isRecord(read)) throw new Error("it must hold one JSON object");
    return read;
  });
}

const readText = (option: string, file: string): string =>
  readOptionFile(option, file, MAX_BYTES, (bytes) => bytes.toString());
