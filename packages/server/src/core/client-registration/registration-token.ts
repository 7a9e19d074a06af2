/**
 * Registration access tokens (RFC 7592): a client's own, stored as hashes. A successor is derived from the token exchanged for it, so
 * that a client which lost the answer gets the same one again; the old token ends when the new one is used.
 */
import { createHmac } from "node:crypto";
import { constantTimeEqual, randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { firstOf, type KeyRing } from "../encryption/key-ring.ts";
import type { ClientRegistration } from "./client-registrations.store.ts";

export interface RegistrationTokenKeys {
  /** Derived from the master keys for this purpose only. */
  readonly registrationTokenKeys: KeyRing;
}

const PREFIX = "sgn_ra_";

export const newRegistrationToken = (): string => randomSecret(PREFIX);

export const registrationTokenHash = (token: string): string => sha256Base64url(token);

type Of = Pick<ClientRegistration, "orgId" | "applicationId">;

function derive(key: Buffer, { orgId, applicationId }: Of, presented: string): string {
  const mac = createHmac("sha256", key).update(`successor|${orgId}|${applicationId}|${presented}`);
  return PREFIX + mac.digest("base64url");
}

export const successorOf = (keys: RegistrationTokenKeys, of: Of, presented: string): string =>
  derive(keys.registrationTokenKeys.all()[0], of, presented);

/** @returns the token that the presented one was exchanged for; undefined when that is not derived from it */
export const knownSuccessor = (
  keys: RegistrationTokenKeys,
  registration: ClientRegistration,
  presented: string,
): string | undefined =>
  firstOf(keys.registrationTokenKeys, (key) => {
    const token = derive(key, registration, presented);
    return isToken(registration.tokenHash, token) ? token : undefined;
  });

const isToken = (hash: string | null, token: string): boolean =>
  hash !== null && constantTimeEqual(hash, registrationTokenHash(token));

/** Which of a registration's tokens was presented; undefined for any other. */
export function presentedAs(
  { tokenHash, previousHash }: ClientRegistration,
  presented: string,
): "current" | "previous" | undefined {
  if (isToken(tokenHash, presented)) return "current";
  return isToken(previousHash, presented) ? "previous" : undefined;
}
