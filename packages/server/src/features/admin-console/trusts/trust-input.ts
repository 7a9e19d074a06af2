/** A trust as form fields: presets, read, displayed, and the rules' faults by field. */
import { patternFaultCode } from "../../../core/trusts/subject-pattern.ts";
import {
  type ClaimValue,
  DEFAULT_LIFETIME_SECONDS,
  InvalidTrust,
  type Trust,
  TrustConflict,
  type TrustKind,
  type TrustSettings,
  trustKinds,
  UnknownTrustReference,
} from "../../../core/trusts/trust.ts";
import type { DurationText } from "../../../html/components/duration-input.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SentForm } from "../../../page-kit/accept-form.ts";
import { readDurationText, toSeconds } from "../../../page-kit/read-fields.ts";
import { displayLifetime, lifetimeText, yesOrNo } from "../plain-records/fields.ts";
import { faultsByField, type Validated } from "../plain-records/plain-record.ts";

export interface TrustInput {
  readonly kind: TrustKind;
  readonly clientId: string;
  readonly issuer: string;
  readonly subjectPattern: string;
  /** `name=text`, `name:=JSON`, one a line. */
  readonly claims: string;
  readonly audience: string;
  readonly jwksUri: string;
  readonly jwks: string;
  readonly maxLifetimeSeconds: DurationText;
  readonly singleUse: boolean;
  readonly connectionId: string;
  readonly userBy: string;
  readonly enabled: boolean;
}

const blank: TrustInput = {
  ...{ kind: "workload", clientId: "", issuer: "", subjectPattern: "", claims: "", audience: "" },
  ...{ jwksUri: "", jwks: "", maxLifetimeSeconds: lifetimeText(DEFAULT_LIFETIME_SECONDS) },
  ...{ singleUse: true, connectionId: "", userBy: "permId", enabled: true },
};

/** What is known of an issuer; what is its users' own stands in words that they replace. */
export const presets: Readonly<Record<string, TrustInput>> = {
  github: {
    ...blank,
    issuer: "https://token.actions.githubusercontent.com",
    subjectPattern: "repo:your-organisation/your-repository:ref:refs/heads/main",
    claims: "ref_protected=true",
  },
  gitlab: {
    ...blank,
    issuer: "https://gitlab.com",
    subjectPattern: "project_path:your-group/your-project:ref_type:branch:ref:main",
    claims: "ref_protected=true",
  },
  kubernetes: {
    ...blank,
    issuer: "https://kubernetes.default.svc.cluster.local",
    subjectPattern: "system:serviceaccount:your-namespace:your-account",
    claims: "/kubernetes.io/namespace=your-namespace",
    // The same token lies in the pod until it is renewed.
    singleUse: false,
  },
  spiffe: { ...blank, subjectPattern: "spiffe://your-domain/your-path/your-workload" },
  oidc: blank,
  "identity-assertion": { ...blank, kind: "id_jag" },
  "software-statement": { ...blank, kind: "software_statement" },
};

export function toTrustInput(trust: Trust): TrustInput {
  const claims = Object.entries(trust.claims).map(([name, value]) =>
    typeof value === "string" ? `${name}=${value}` : `${name}:=${value}`,
  );
  return {
    ...{ kind: trust.kind, clientId: trust.clientId ?? "", issuer: trust.issuer },
    ...{ subjectPattern: trust.subjectPattern ?? "", claims: claims.join("\n") },
    ...{ audience: trust.audience ?? "", jwksUri: trust.jwksUri ?? "" },
    jwks: trust.jwks === null ? "" : JSON.stringify(trust.jwks, null, 2),
    maxLifetimeSeconds: lifetimeText(trust.maxLifetimeSeconds),
    ...{ singleUse: trust.singleUse, connectionId: trust.connectionId ?? "" },
    ...{ userBy: trust.userBy, enabled: trust.enabled },
  };
}

/** @param before its kind cannot change */
export function readTrustInput({ values, ...form }: SentForm, before: Trust | undefined): TrustInput {
  const text = (id: string, max = 2_100) => (values.get(id) ?? "").trim().slice(0, max);
  const kind = before?.kind ?? trustKinds.find((one) => one === values.get("kind")) ?? "workload";
  return {
    ...{ kind, clientId: text("clientId", 40), issuer: text("issuer") },
    ...{ subjectPattern: text("subjectPattern"), claims: text("claims", 50_000) },
    ...{ audience: text("audience"), jwksUri: text("jwksUri"), jwks: text("jwks", 100_000) },
    maxLifetimeSeconds: readDurationText({ ...form, values }, "maxLifetimeSeconds"),
    ...{ singleUse: values.get("singleUse") === "on", enabled: values.get("enabled") === "on" },
    ...{ connectionId: text("connectionId", 40), userBy: text("userBy", 20) },
  };
}

export const displayTrust = (input: TrustInput, messages: Messages): Record<string, string> => ({
  ...{ clientId: input.clientId, issuer: input.issuer, subjectPattern: input.subjectPattern },
  ...{ claims: input.claims, audience: input.audience, jwksUri: input.jwksUri, jwks: input.jwks },
  maxLifetimeSeconds: displayLifetime(input.maxLifetimeSeconds, messages),
  ...{ singleUse: yesOrNo(input.singleUse, messages), enabled: yesOrNo(input.enabled, messages) },
  ...{ connectionId: input.connectionId, userBy: input.userBy },
});

/** Of what a form has as text; the rules validate the rest. */
export function validateTrust(input: TrustInput, { console }: Messages): Validated<TrustSettings> {
  const { faults: texts } = console.trusts;
  const [claims, jwks] = [readClaims(input.claims), readJwks(input.jwks)];
  if (claims === undefined || jwks === undefined)
    return {
      faults: {
        ...(claims === undefined && { claims: texts.claims }),
        ...(jwks === undefined && { jwks: texts.jwks }),
      },
    };
  const orNull = (text: string) => (text === "" ? null : text);
  const isAssertion = input.kind === "id_jag";
  return {
    content: {
      ...{ kind: input.kind, clientId: orNull(input.clientId.toLowerCase()), issuer: input.issuer },
      ...{ subjectPattern: orNull(input.subjectPattern), claims, audience: orNull(input.audience) },
      ...{ jwks, jwksUri: orNull(input.jwksUri), singleUse: input.singleUse, enabled: input.enabled },
      maxLifetimeSeconds: toSeconds(input.maxLifetimeSeconds) ?? 0,
      connectionId: isAssertion ? orNull(input.connectionId.toLowerCase()) : null,
      userBy: isAssertion && input.userBy === "connection" ? "connection" : "permId",
    },
  };
}

/** Undefined for a line that is none. */
function readClaims(text: string): Record<string, ClaimValue> | undefined {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const entries = lines.map(readClaim);
  if (entries.some((entry) => entry === undefined)) return undefined;
  return Object.fromEntries(entries as Array<[string, ClaimValue]>);
}

function readClaim(line: string): [string, ClaimValue] | undefined {
  const [, name, sign, value = ""] = /^([^\s=]+?)\s*(:?=)\s*(.*)$/.exec(line) ?? [];
  if (name === undefined) return undefined;
  if (sign === "=") return [name, value];
  if (value === "true" || value === "false") return [name, value === "true"];
  const number = Number(value);
  return value !== "" && Number.isFinite(number) ? [name, number] : undefined;
}

/** Null for none; undefined for no JSON Web Key Set. */
function readJwks(text: string): Trust["jwks"] | undefined {
  if (text === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    const isSet = typeof value === "object" && value !== null && "keys" in value && Array.isArray(value.keys);
    return isSet ? (value as NonNullable<Trust["jwks"]>) : undefined;
  } catch {
    return undefined;
  }
}

/** @throws what is not about what was typed */
export function trustFaults(
  error: unknown,
  { console }: Messages,
  { subjectPattern }: Pick<TrustSettings, "subjectPattern">,
): Record<string, string> {
  const { faults: texts, patternFaults } = console.trusts;
  if (error instanceof UnknownTrustReference) return { [error.member]: texts[error.member] };
  if (error instanceof TrustConflict)
    return error.code === "too-many-trusts" ? { issuer: texts.tooMany } : { clientId: texts.clientId };
  if (!(error instanceof InvalidTrust)) throw error;
  const faults = faultsByField(error.faults, texts);
  const code = subjectPattern === null ? undefined : patternFaultCode(subjectPattern);
  return code && faults["subjectPattern"] !== undefined
    ? { ...faults, subjectPattern: patternFaults[code] }
    : faults;
}
