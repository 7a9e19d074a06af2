/** Invitations as API v1 shows them. */
import Type from "typebox";
import {
  type InvitationRow,
  invitationState,
  invitationStates,
} from "../../../core/users/invitations/invitation-records.store.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { userPatch } from "../users/change-user.ts";
import { roleSchema } from "../users/user-record.ts";

/** An invitation, and whom it is for. */
export interface Invitation extends InvitationRow {
  readonly email: string;
  readonly firstname: string;
  readonly surname: string;
  readonly role: string;
  readonly connectionId: string | null;
}

const DAY = 86_400;
export const DEFAULT_SECONDS = 7 * DAY;
const MAX_SECONDS = 30 * DAY;
export const MAX_ITEMS = 1_000;

/** A user's members, and how the user is told. */
export const newInvitation = strictObject(
  {
    ...userPatch.properties,
    email: Type.String({ maxLength: 1_000 }),
    connectionId: Type.Optional(
      Type.String({
        format: "uuid",
        description: "The user accepts at this identity provider, and signs in by it",
      }),
    ),
    expiresInSeconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: MAX_SECONDS,
        description: `How long the link works; default: ${DEFAULT_SECONDS}, which is 7 days`,
      }),
    ),
    sendEmail: Type.Optional(
      Type.Boolean({ description: "false: no email; the answer has the `link`, which is never shown again" }),
    ),
  },
  { title: "ApiNewInvitation" },
);

const time = Type.String({ format: "date-time" });

const textOrNull = Type.Union([Type.String(), Type.Null()]);

const members = {
  id: Type.String({ format: "uuid" }),
  userId: Type.String({ format: "uuid", description: "The PermId" }),
  email: Type.String(),
  firstname: textOrNull,
  surname: textOrNull,
  role: roleSchema,
  connectionId: Type.Union([Type.String({ format: "uuid" }), Type.Null()], {
    description: "The identity provider where it is accepted",
  }),
  state: Type.Enum([...invitationStates]),
  expiresAt: time,
  createdAt: time,
  updatedAt: time,
};

export const invitationSchema = Type.Object(members, { title: "ApiInvitation" });

export const createdInvitation = Type.Object(
  {
    ...members,
    link: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: "With `sendEmail` false: for the user alone. Null in a repeated answer",
      }),
    ),
  },
  { title: "ApiCreatedInvitation" },
);

export const invitationRecord = (invitation: Invitation, { clock }: { readonly clock: () => number }) => {
  const { id, userId, email, firstname, surname, role, connectionId } = invitation;
  const { expiresAt, createdAt, updatedAt } = invitation;
  return {
    ...{ id, userId, email, firstname: firstname || null, surname: surname || null, role, connectionId },
    state: invitationState(invitation, clock()),
    ...{ expiresAt: wireTime(expiresAt), createdAt: wireTime(createdAt), updatedAt: wireTime(updatedAt) },
  };
};
