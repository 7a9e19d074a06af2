/** Validates a trust. Reports all faults together, each with its member. */
import { clientJwksFaults, trustKeyRules } from "../applications/client-jwks.ts";
import { isCallable } from "../applications/validation.ts";
import { isOwnIssuer } from "../organisations/organisation.ts";
import { patternFault } from "./subject-pattern.ts";
import {
  InvalidTrust,
  LIFETIME_RANGE,
  MAX_CLAIMS,
  type TrustFault,
  type TrustSettings,
  trustKinds,
  trustUserBy,
} from "./trust.ts";

const isFrom = (min: number, max: number, value: number): boolean =>
  Number.isInteger(value) && value >= min && value <= max;
const isPlainText = (text: string): boolean => /^[\x21-\x7e]{1,2048}$/.test(text);

/** @param own the organisation's issuer: its tokens are no others' @throws InvalidTrust naming every fault */
export function requireValidTrust(settings: TrustSettings, own: string): void {
  const faults = [
    ...requireThat(trustKinds.includes(settings.kind), "kind", `must be one of ${trustKinds.join(", ")}`),
    ...requireThat(
      trustUserBy.includes(settings.userBy),
      "userBy",
      `must be one of ${trustUserBy.join(", ")}`,
    ),
    ...issuerFaults(settings, own),
    ...keyFaults(settings),
    ...requireThat(
      settings.audience === null || isPlainText(settings.audience),
      "audience",
      "must be 1 to 2048 printable characters without spaces",
    ),
    ...subjectFaults(settings),
    ...claimFaults(settings),
    ...requireThat(
      isFrom(...LIFETIME_RANGE, settings.maxLifetimeSeconds),
      "maxLifetimeSeconds",
      `must be an integer from ${LIFETIME_RANGE.join(" to ")}`,
    ),
    ...kindFaults(settings, own),
  ];
  if (faults.length > 0) throw new InvalidTrust(faults);
}

const requireThat = (isFine: boolean, path: string, message: string): TrustFault[] =>
  isFine ? [] : [{ path, message }];

function issuerFaults({ issuer, jwks, jwksUri }: TrustSettings, own: string): TrustFault[] {
  if (!isPlainText(issuer))
    return [{ path: "issuer", message: "must be 1 to 2048 printable characters without spaces" }];
  if (isOwnIssuer(own, issuer)) return [{ path: "issuer", message: "is this organisation's own issuer" }];
  const isFound = jwks === null && jwksUri === null;
  // OpenID Connect Discovery 1.0 §4: without query, and the path goes before the well-known one.
  const isFine = !isFound || (isCallable(issuer) && !issuer.includes("?"));
  return requireThat(isFine, "issuer", "must be an https URL without query, or have jwks or jwksUri");
}

function keyFaults({ jwks, jwksUri }: TrustSettings): TrustFault[] {
  return [
    ...(jwks === null
      ? []
      : clientJwksFaults(jwks, trustKeyRules).map(({ path, message }) => ({
          path: `jwks.${path}`,
          message,
        }))),
    ...requireThat(jwks === null || jwksUri === null, "jwksUri", "jwks and jwksUri are mutually exclusive"),
    ...requireThat(
      jwksUri === null || isCallable(jwksUri),
      "jwksUri",
      "must be an https URL without credentials and fragment",
    ),
  ];
}

function subjectFaults({ kind, subjectPattern }: TrustSettings): TrustFault[] {
  const path = "subjectPattern";
  if (subjectPattern === null)
    return requireThat(
      kind !== "workload",
      path,
      "is required for a workload: without it every subject is trusted",
    );
  const message = patternFault(subjectPattern);
  return message === undefined ? [] : [{ path, message }];
}

function claimFaults({ claims }: TrustSettings): TrustFault[] {
  const entries = Object.entries(claims);
  if (entries.length > MAX_CLAIMS) return [{ path: "claims", message: `are at most ${MAX_CLAIMS}` }];
  return entries.flatMap(([name, value]) => {
    if (!isPlainText(name) || name.length > 255)
      return [{ path: "claims", message: "have names of 1 to 255 printable characters without spaces" }];
    if (typeof value === "string" && value.includes("*"))
      return [{ path: "claims", message: `has * in ${name}: a claim must be exactly what it should be` }];
    const isFine =
      typeof value === "string"
        ? value.length <= 1_024
        : typeof value === "boolean" || Number.isFinite(value);
    return requireThat(
      isFine,
      "claims",
      `has a ${name} that is no text of at most 1024 characters, number or boolean`,
    );
  });
}

/** What a kind needs, and what means nothing for it. */
function kindFaults(settings: TrustSettings, own: string): TrustFault[] {
  const { kind, clientId, connectionId, userBy, audience } = settings;
  if (kind === "workload")
    return [
      ...requireThat(clientId !== null, "clientId", "is required: the client that the workload is"),
      ...requireThat(connectionId === null, "connectionId", "is for id_jag alone"),
    ];
  if (kind === "software_statement")
    return [
      ...requireThat(clientId === null, "clientId", "cannot be set: a software statement registers a client"),
      ...requireThat(connectionId === null, "connectionId", "is for id_jag alone"),
    ];
  return [
    ...requireThat(
      userBy !== "connection" || connectionId !== null,
      "connectionId",
      "is required with userBy connection: the connection at which the subject is linked",
    ),
    // An assertion for another audience would be somebody else's.
    ...requireThat(audience === null || audience === own, "audience", "must be this issuer"),
  ];
}
