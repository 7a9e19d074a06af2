/** Records of the legacy API. Made by generators/management-types.ts from /openapi.json: do not edit. */

export type LegacyApplication = {
  ApplicationId: string;
  Name: string;
  OrganisationId: string;
  /** Home page of the application */
  Url: string | null;
};

export type ConvertedSessionKey = {
  /** Returned once */
  Key: string;
  Kind: "Service" | "UserTemp" | "UserPerm";
  /** null for a key that is valid until it is revoked */
  ExpiresAt: string | null;
};

export type ServiceSession = {
  Id: string;
  ApplicationId: string;
  Kind: "Service" | "UserTemp" | "UserPerm";
  CreatedAt: string;
  LastSeenAt: string;
  ExpiresAt: string | null;
};

export type LegacyUser = {
  Email: string;
  Firstname: string;
  Surname: string;
  /** permanent unique user identifier */
  PermId: string;
  OrganisationId: string;
  Role: "Standard" | "Administrator";
  Phone?: string;
};

export type ValidSessionKey = {
  Valid: true;
  Kind: "Service" | "UserTemp" | "UserPerm";
  ApplicationId: string;
  /** null for a key that is valid until it is revoked */
  ExpiresAt: string | null;
  User: LegacyUser;
};
