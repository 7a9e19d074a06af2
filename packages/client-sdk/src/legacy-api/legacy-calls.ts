/** Calls of the legacy API. Made by generators/management-types.ts from /openapi.json: do not edit. */
import type {
  ConvertedSessionKey,
  LegacyApplication,
  LegacyUser,
  ServiceSession,
  ValidSessionKey,
} from "./legacy-records.ts";

export type LegacyCalls = {
  "POST /legacy/api/users/get": {
    body: {
      email: string;
      ApplicationId?: string;
    };
    answer: LegacyUser;
  };
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
  "POST /legacy/api/Authentication/User/Login/{appId}": {
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
  "POST /legacy/api/Authentication/User/Logout": {
    body: {
      Key: string;
      ApplicationId?: string;
    };
  };
  "POST /legacy/api/Authentication/User/Logout/{everywhere}": {
    body: {
      Key: string;
      ApplicationId?: string;
    };
  };
  "POST /legacy/api/Authentication/User/Register": {
    body: {
      Email: string;
      Password: string;
      Firstname: string;
      Surname: string;
      Phone?: string;
      ApplicationId?: string;
    };
    answer: {
      Message: string;
    };
  };
  "POST /legacy/api/Authentication/Organisation/{publicId}/Register/Account": {
    body: {
      Email: string;
      Password: string;
      Firstname: string;
      Surname: string;
      Phone?: string;
      ApplicationId?: string;
    };
    answer: {
      Message: string;
    };
  };
  "POST /legacy/api/Authentication/User/Roaming/Register": {
    body: {
      Email?: string;
      PermId?: string;
      HomeOrganisationId: string;
      ApplicationId?: string;
    };
    answer: {
      Message: string;
    };
  };
  "POST /legacy/api/Authentication/User/{email}/PasswordReset": {
    body?: {
      ApplicationId?: string;
    };
    answer: {
      Message: string;
    };
  };
  "GET /legacy/api/Authentication/Action/{id}/{type}": {
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Completed: true;
    };
  };
  "POST /legacy/api/Authentication/Action/{id}/{type}": {
    body?: {
      NewPassword?: string;
    };
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Completed: true;
    };
  };
  "GET /legacy/api/Authentication/User/Register/Complete/{key}": {
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Completed: true;
    };
  };
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
    answer: LegacyUser & {
      Settings?: {
        [key: string]: unknown;
      };
    };
  };
  "PUT /legacy/api/User/Profile/{appId}/{key}": {
    body: {
      Settings: {
        [key: string]: unknown;
      };
    };
    answer: {
      Settings: {
        [key: string]: unknown;
      };
    };
  };
  "GET /legacy/api/User/Profile/{appId}/{key}/{extendSetting}": {
    answer: LegacyUser & {
      Settings?: {
        [key: string]: unknown;
      };
    };
  };
  "GET /legacy/api/User/{userId}/ServiceSessions": {
    item: ServiceSession;
  };
  "GET /legacy/api/User/Username/Available/{username}": {
    answer: {
      Available: boolean;
    };
  };
  "GET /legacy/api/Organisation/Application/List": {
    item: LegacyApplication;
  };
  "GET /legacy/api/Organisation/External/Application/List": {
    item: LegacyApplication;
  };
  "GET /legacy/api/Organisations/{appId}/{publicId}/application/list": {
    item: LegacyApplication;
  };
  "GET /legacy/api/auth/validate": {
    query: {
      /** The session key. */
      key: string;
    };
    answer: ValidSessionKey;
  };
  "GET /legacy/api/Keys/User/{key}": {
    answer: ValidSessionKey;
  };
  "POST /legacy/api/Keys/User/{key}/Convert/To/UserTemp": {
    answer: ConvertedSessionKey;
  };
  "POST /legacy/api/Keys/User/{key}/Convert/To/UserPerm": {
    answer: ConvertedSessionKey;
  };
  "GET /legacy/api/Keys/User/{key}/Permission/{appId}": {
    answer: {
      /** Whether the user may use the application */
      Permitted: boolean;
      Role: "Standard" | "Administrator";
    };
  };
};
