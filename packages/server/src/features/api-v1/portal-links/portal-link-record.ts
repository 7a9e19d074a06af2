/** Portal links as API v1 shows them. */
import Type from "typebox";
import {
  LINK_LIFETIME_MS,
  type PortalLink,
  portalPurposes,
  portalState,
  portalStates,
} from "../../../core/portal-links/portal-link.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { memoryFields } from "../lists/list-fields.ts";

const time = Type.String({ format: "date-time" });
const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const purposes = Type.Array(Type.Enum([...portalPurposes]), {
  ...{ minItems: 1, maxItems: portalPurposes.length },
  description: "Which pages it opens: of identity providers, of domains, of directories",
});

export const newPortalLink = strictObject(
  {
    purposes,
    returnUrl: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: 2_048 },
        description: "Where its pages lead back to: registered with an application of the organisation",
      }),
    ),
  },
  { title: "ApiNewPortalLink" },
);

const members = {
  id: Type.String({ format: "uuid" }),
  purposes,
  returnUrl: textOrNull("Where its pages lead back to"),
  state: Type.Enum([...portalStates], { description: "`open`: opened, and its visit is not over" }),
  openedAt: Type.Union([time, Type.Null()]),
  expiresAt: Type.String({ format: "date-time", description: "Until then it can be opened, once" }),
  createdBy: Type.String({ description: "As the audit log names who made it" }),
  ...{ createdAt: time, updatedAt: time },
};

const url = textOrNull("`{base_url}/portal/sgn_pl_…`, shown once");

export const portalLinkSchema = Type.Object(members, { title: "ApiPortalLink" });
export const portalLinkWithUrl = Type.Object({ ...members, url }, { title: "ApiPortalLinkWithUrl" });

export const portalLinkFields = memoryFields({
  ...({ id: "text", returnUrl: "text", state: "text", createdBy: "text" } as const),
  ...({ openedAt: "time", expiresAt: "time", createdAt: "time", updatedAt: "time" } as const),
});

export const portalLinkRecord = (link: PortalLink, now: number) => ({
  ...{ id: link.id, purposes: [...link.purposes], returnUrl: link.returnUrl, state: portalState(link, now) },
  openedAt: link.openedAt === null ? null : wireTime(link.openedAt),
  expiresAt: wireTime(link.createdAt + LINK_LIFETIME_MS),
  createdBy: link.createdBy,
  ...{ createdAt: wireTime(link.createdAt), updatedAt: wireTime(link.updatedAt) },
});
