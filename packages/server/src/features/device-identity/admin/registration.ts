/** Reads the registration form. */
import { isUuid } from "@signet/protocol/hash";
import { type AttestationPolicy, attestationPolicies } from "../../../core/devices/device.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { isRecordName } from "../../../core/organisations/organisation.ts";
import type { Database } from "../../../db/open.ts";
import type { DeviceRegistration } from "./register-device.ts";
import { emptyRegisterFields, lifetimes, type RegisterFault, type RegisterFields } from "./register-form.ts";

const fieldNames = ["name", "attestation", "expiresIn", "replaces"] as const;

/** From a form, or from a query that fills it in. */
export function typedFields(values: ReadonlyMap<string, string>): RegisterFields {
  const given = fieldNames.flatMap((name) => {
    const value = values.get(name)?.slice(0, 200);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...emptyRegisterFields, ...Object.fromEntries(given) };
}

/** What differs from an empty form, for a query that fills it in again. */
export const changedFields = (typed: RegisterFields): Partial<RegisterFields> =>
  Object.fromEntries(
    fieldNames.flatMap((name) => (typed[name] === emptyRegisterFields[name] ? [] : [[name, typed[name]]])),
  );

export type ReadRegistration =
  | (Pick<DeviceRegistration, "name" | "expiresInSeconds" | "replaces"> & {
      readonly attestation: AttestationPolicy;
    })
  | { readonly fault: { field: keyof RegisterFields; error: RegisterFault } };

export async function readRegistration(
  { database }: { readonly database: Database },
  orgId: string,
  typed: RegisterFields,
): Promise<ReadRegistration> {
  const fault = (field: keyof RegisterFields, error: RegisterFault) => ({ fault: { field, error } });
  const name = typed.name.trim();
  if (name !== "" && !isRecordName(name)) return fault("name", "badName");
  const attestation = attestationPolicies.find((policy) => policy === typed.attestation);
  if (!attestation) return fault("attestation", "badChoice");
  const expiresInSeconds = lifetimes.find((seconds) => String(seconds) === typed.expiresIn);
  if (!expiresInSeconds) return fault("expiresIn", "badChoice");
  const replaces = typed.replaces.trim().toLowerCase();
  const replaced = isUuid(replaces) ? await findDevice(database.query, orgId, replaces) : undefined;
  if (replaces !== "" && replaced?.revokedAt !== null) return fault("replaces", "badReplaces");
  return {
    ...(name === "" ? {} : { name }),
    attestation,
    expiresInSeconds,
    ...(replaces === "" ? {} : { replaces }),
  };
}
