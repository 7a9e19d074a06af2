/** An audit event as API v1 shows it. */
import Type from "typebox";
import type { StoredEvent } from "../../../core/audit/audit.store.ts";
import { wireTime } from "../../../http/api/times.ts";

const textOrNull = () => Type.Union([Type.String(), Type.Null()]);

export const auditEventSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    at: Type.String({ format: "date-time" }),
    action: Type.String(),
    actorType: Type.String({ description: "`user`, `client`, `system-account`, `operator`, `system`, …" }),
    actorId: textOrNull(),
    targetId: textOrNull(),
    address: textOrNull(),
    details: Type.Record(Type.String(), Type.Unknown()),
  },
  { title: "ApiAuditEvent" },
);

export function auditEventRecord({ id, at, action, actor, target, address, details }: StoredEvent) {
  const [actorType = actor, ...rest] = actor.split(":");
  const actorId = rest.length === 0 ? null : rest.join(":");
  return {
    ...{ id, at: wireTime(at), action, actorType, actorId },
    ...{ targetId: target ?? null, address: address ?? null, details },
  };
}
