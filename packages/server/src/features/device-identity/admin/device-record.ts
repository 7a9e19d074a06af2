/** A device on the wire, as administrators get it. */
import Type from "typebox";
import { attestations, revocationReasons } from "../../../core/devices/device.ts";
import { deviceStates, type ListedDevice } from "./device-list.store.ts";

export const uuid = Type.String({ format: "uuid" });
export const moment = Type.String({ format: "date-time" });
export const orNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const device = Type.Object(
  {
    id: uuid,
    name: Type.String({ examples: ["Build agent 7"] }),
    state: Type.Enum([...deviceStates], { description: "`expired`: the last certificate has expired" }),
    attestation: Type.Enum([...attestations], { description: "whether a TPM attested the key" }),
    enrolledAt: moment,
    lastSeenAt: orNull(moment),
    certificate: orNull(Type.Object({ serial: Type.String({ examples: ["0b5f…"] }), notAfter: moment })),
    revokedAt: orNull(moment),
    revokedReason: orNull(Type.Enum([...revocationReasons])),
  },
  { title: "Device" },
);

const toIsoTime = (milliseconds: number | null) =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();

export const deviceRecord = (listed: ListedDevice) => ({
  id: listed.id,
  name: listed.name,
  state: listed.state,
  attestation: listed.attestation,
  enrolledAt: toIsoTime(listed.enrolledAt),
  lastSeenAt: toIsoTime(listed.lastSeenAt),
  certificate: listed.certificate && {
    serial: listed.certificate.serial,
    notAfter: toIsoTime(listed.certificate.notAfter),
  },
  revokedAt: toIsoTime(listed.revokedAt),
  revokedReason: listed.revokedReason,
});
