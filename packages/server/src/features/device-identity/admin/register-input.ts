/** The form that creates an enrolment code: read and validated. */
import { isUuid } from "@signet/protocol/hash";
import { type AttestationPolicy, attestationPolicies } from "../../../core/devices/device.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { isRecordName } from "../../../core/organisations/organisation.ts";
import type { Database } from "../../../db/open.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { DeviceRegistration } from "./register-device.ts";

export type RegisterInput = { name: string; attestation: string; expiresIn: string; replaces: string };

export const lifetimes = [3_600, 86_400, 3 * 86_400, 7 * 86_400] as const;
export const emptyRegisterInput: RegisterInput = {
  name: "",
  attestation: "none",
  expiresIn: "86400",
  replaces: "",
};
const fieldNames = Object.keys(emptyRegisterInput) as Array<keyof RegisterInput>;

/** From a form, or from a query that fills it in. */
export function readRegisterInput(values: ReadonlyMap<string, string>): RegisterInput {
  const given = fieldNames.flatMap((name) => {
    const value = values.get(name)?.slice(0, 200);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...emptyRegisterInput, ...Object.fromEntries(given) };
}

/** What differs from an empty form, for a query that fills it in again. */
export const changedFields = (input: RegisterInput): Partial<RegisterInput> =>
  Object.fromEntries(
    Object.entries(input).filter(
      ([name, value]) => emptyRegisterInput[name as keyof RegisterInput] !== value,
    ),
  );

/** @returns the registration, or the first fault */
export async function validateRegistration(
  { database }: { readonly database: Database },
  orgId: string,
  input: RegisterInput,
  { devices: { register: text } }: Messages,
): Promise<
  | (Pick<DeviceRegistration, "name" | "expiresInSeconds" | "replaces"> & {
      readonly attestation: AttestationPolicy;
    })
  | { readonly faults: Partial<RegisterInput> }
> {
  const name = input.name.trim();
  if (name !== "" && !isRecordName(name)) return { faults: { name: text.badName } };
  const attestation = attestationPolicies.find((policy) => policy === input.attestation);
  if (!attestation) return { faults: { attestation: text.badChoice } };
  const expiresInSeconds = lifetimes.find((seconds) => String(seconds) === input.expiresIn);
  if (!expiresInSeconds) return { faults: { expiresIn: text.badChoice } };
  const replaces = input.replaces.trim().toLowerCase();
  const replaced = isUuid(replaces) ? await findDevice(database.query, orgId, replaces) : undefined;
  if (replaces !== "" && replaced?.revokedAt !== null) return { faults: { replaces: text.badReplaces } };
  return {
    ...(name === "" ? {} : { name }),
    attestation,
    expiresInSeconds,
    ...(replaces === "" ? {} : { replaces }),
  };
}
