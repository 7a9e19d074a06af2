/** Records and calls of the legacy API. Made by generators/management-types.ts from /openapi.json: do not edit. */

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

export type LegacyCalls = {
  "POST /legacy/api/users/get": { body: { email: string; ApplicationId?: string }; answer: LegacyUser };
  "POST /legacy/api/Authentication/User/Login": {
    body: {
      Email: string;
      Password: string;
      /** Authenticator code or recovery code */
      TwoFactorCode?: string;
      ApplicationId?: string;
    };
    answer: {
      /** A session key, returned once */
      Key: string;
      ExpiresAt: string | null;
      User: LegacyUser;
    };
  };
  "POST /legacy/api/Authentication/User/Login/{appId}": LegacyCalls["POST /legacy/api/Authentication/User/Login"];
  "POST /legacy/api/Authentication/User/Logout": { body: { Key: string; ApplicationId?: string } };
  "POST /legacy/api/Authentication/User/Logout/{everywhere}": LegacyCalls["POST /legacy/api/Authentication/User/Logout"];
  "POST /legacy/api/Authentication/User/Register": {
    body: {
      Email: string;
      /** checked against the password policy only: the owner sets the password by the link in the email */
      Password: string;
      Firstname: string;
      Surname: string;
      Phone?: string;
      ApplicationId?: string;
    };
    answer: { Message: string };
  };
  "POST /legacy/api/Authentication/Organisation/{publicId}/Register/Account": LegacyCalls["POST /legacy/api/Authentication/User/Register"];
  "POST /legacy/api/Authentication/User/Roaming/Register": {
    body: { Email?: string; PermId?: string; HomeOrganisationId: string; ApplicationId?: string };
    answer: { Message: string };
  };
  "POST /legacy/api/Authentication/User/{email}/PasswordReset": {
    body?: { ApplicationId?: string };
    answer: { Message: string };
  };
  "GET /legacy/api/Authentication/Action/{id}/{type}": {
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Completed: true;
    };
  };
  "POST /legacy/api/Authentication/Action/{id}/{type}": {
    body?: { NewPassword?: string };
    answer: LegacyCalls["GET /legacy/api/Authentication/Action/{id}/{type}"]["answer"];
  };
  "GET /legacy/api/Authentication/User/Register/Complete/{key}": LegacyCalls["GET /legacy/api/Authentication/Action/{id}/{type}"];
  "POST /legacy/api/Authentication/User/Register/Complete/{key}": LegacyCalls["POST /legacy/api/Authentication/Action/{id}/{type}"];
  "GET /legacy/api/Authentication/Action/{id}/{type}/Requirement": {
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Requires: "NewPassword"[];
      ExpiresAt: string;
    };
  };
  "GET /legacy/api/Authentication/Account/VerifyIdentity/{key}": {
    answer: {
      Verified: true;
      User: LegacyUser;
      AuthTime: string;
      /** RFC 8176 */
      Amr: string[];
    };
  };
  "GET /legacy/api/User/Profile/{appId}/{key}": {
    answer: LegacyUser & { Settings?: Record<string, unknown> };
  };
  "PUT /legacy/api/User/Profile/{appId}/{key}": {
    body: { Settings: Record<string, unknown> };
    answer: { Settings: Record<string, unknown> };
  };
  "GET /legacy/api/User/Profile/{appId}/{key}/{extendSetting}": {
    answer: LegacyUser & { Settings?: Record<string, unknown> };
  };
  "GET /legacy/api/User/{userId}/ServiceSessions": { item: ServiceSession };
  "GET /legacy/api/User/Username/Available/{username}": { answer: { Available: boolean } };
  "GET /legacy/api/Organisation/Application/List": { item: LegacyApplication };
  "GET /legacy/api/Organisation/External/Application/List": { item: LegacyApplication };
  "GET /legacy/api/Organisations/{appId}/{publicId}/application/list": { item: LegacyApplication };
  "GET /legacy/api/auth/validate": {
    query: {
      /** The session key. */
      key: string;
    };
    answer: ValidSessionKey;
  };
  "GET /legacy/api/Keys/User/{key}": { answer: ValidSessionKey };
  "POST /legacy/api/Keys/User/{key}/Convert/To/UserTemp": { answer: ConvertedSessionKey };
  "POST /legacy/api/Keys/User/{key}/Convert/To/UserPerm": { answer: ConvertedSessionKey };
  "GET /legacy/api/Keys/User/{key}/Permission/{appId}": {
    answer: {
      /** Whether the user may use the application */
      Permitted: boolean;
      Role: "Standard" | "Administrator";
    };
  };
};
