/** Domains and break-glass administrators as API v1 shows them. */
import Type from "typebox";
import type { BreakGlassAccount } from "../../../core/break-glass/break-glass.store.ts";
import { type Domain, domainStates, proofErrors, proofRecord } from "../../../core/domains/domain.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { patchSchema } from "../frame/patch-schema.ts";
import { memoryFields } from "../lists/list-fields.ts";

const connectionId = Type.String({ format: "uuid" });
const enforced = Type.Boolean({
  description: "Whether people with an address of the domain have no other way to sign in; default: false",
});
const time = Type.String({ format: "date-time" });

export const newDomain = strictObject(
  {
    domain: Type.String({
      maxLength: 1_000,
      description: "A domain that can be registered, e.g. `acme.example`",
    }),
    connectionId: Type.Optional(Type.Union([connectionId, Type.Null()])),
    enforced: Type.Optional(enforced),
  },
  { title: "ApiNewDomain" },
);

export const domainPatch = patchSchema({ connectionId, enforced }, { title: "ApiDomainChange" });

export const domainSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    domain: Type.String({ description: "In A-labels" }),
    connectionId: Type.Union([connectionId, Type.Null()], {
      description: "Where people with an address of the domain sign in",
    }),
    enforced,
    state: Type.Enum([...domainStates]),
    record: Type.Object(
      { type: Type.Literal("TXT"), name: Type.String(), value: Type.String() },
      { description: "What the domain's owner publishes in the DNS" },
    ),
    lastError: Type.Union([Type.Enum([...proofErrors]), Type.Null()], {
      description: "What the last look at the DNS found amiss",
    }),
    ...{ createdAt: time, updatedAt: time },
  },
  { title: "ApiDomain" },
);

export const domainFields = memoryFields({
  ...({ id: "text", domain: "text", connectionId: "text", enforced: "boolean", state: "text" } as const),
  ...({ lastError: "text", createdAt: "time", updatedAt: "time" } as const),
});

export const domainRecord = (domain: Domain) => ({
  ...{ id: domain.id, domain: domain.domain, connectionId: domain.connectionId, enforced: domain.enforced },
  ...{ state: domain.state, record: proofRecord(domain), lastError: domain.lastError },
  ...{ createdAt: wireTime(domain.createdAt), updatedAt: wireTime(domain.updatedAt) },
});

export const breakGlassSchema = Type.Object(
  { id: Type.String({ format: "uuid", description: "The administrator's PermId" }), createdAt: time },
  { title: "ApiBreakGlassAccount" },
);

export const breakGlassFields = memoryFields({ ...({ id: "text", createdAt: "time" } as const) });

export const breakGlassRecord = ({ userId, createdAt }: BreakGlassAccount) => ({
  id: userId,
  createdAt: wireTime(createdAt),
});
