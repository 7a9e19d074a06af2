/** A user as applications see them (specification, "User"). */
import Type from "typebox";
import type { User } from "./user.ts";

export const userSchema = Type.Object(
  {
    Email: Type.String(),
    Firstname: Type.String(),
    Surname: Type.String(),
    PermId: Type.String({ format: "uuid", description: "permanent unique user identifier" }),
    OrganisationId: Type.String({ format: "uuid" }),
    Role: Type.Union([Type.Literal("Standard"), Type.Literal("Administrator")]),
    Phone: Type.Optional(Type.String()),
  },
  { title: "User" },
);

export const userRecord = (user: User) => ({
  Email: user.email,
  Firstname: user.firstname,
  Surname: user.surname,
  PermId: user.id,
  OrganisationId: user.orgId,
  Role: user.role,
  ...(user.phone === null ? {} : { Phone: user.phone }),
});
