/** Calls of the legacy API. Made by generators/management-types.ts from /openapi.json: do not edit. */
import type {
  ConvertedSessionKey,
  LegacyApplication,
  LegacyUser,
  ServiceSession,
  ValidSessionKey,
} from "./legacy-records.ts";

export type LegacyCalls = {
  /** A member of the organisation by email address */
  "POST /legacy/api/users/get": {
    body: {
      email: string;
      ApplicationId?: string;
    };
    answer: LegacyUser;
  };
  /** Sign a user in by address and password */
  "POST /legacy/api/Authentication/User/Login": {
    body: {
      Email: string;
      Password: string;
      /** of an authenticator app, or a recovery code */
      TwoFactorCode?: string;
      ApplicationId?: string;
    };
    answer: {
      /** a session key, shown this once */
      Key: string;
      ExpiresAt: string | null;
      User: LegacyUser;
    };
  };
  /** Sign a user in by address and password, with {appId} */
  "POST /legacy/api/Authentication/User/Login/{appId}": {
    body: {
      Email: string;
      Password: string;
      /** of an authenticator app, or a recovery code */
      TwoFactorCode?: string;
      ApplicationId?: string;
    };
    answer: {
      /** a session key, shown this once */
      Key: string;
      ExpiresAt: string | null;
      User: LegacyUser;
    };
  };
  /** End a session key and its session; with `true` or `everywhere` all sessions, keys and tokens */
  "POST /legacy/api/Authentication/User/Logout": {
    body: {
      Key: string;
      ApplicationId?: string;
    };
  };
  /** End a session key and its session; with `true` or `everywhere` all sessions, keys and tokens, with {everywhere} */
  "POST /legacy/api/Authentication/User/Logout/{everywhere}": {
    body: {
      Key: string;
      ApplicationId?: string;
    };
  };
  /** Register a user of the organisation; the address is confirmed by mail */
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
  /** Register a user of the organisation that the path names, which is the caller's */
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
  /** Ask a user of another organisation to become a member of the caller's */
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
  /** Send a link to set a new password */
  "POST /legacy/api/Authentication/User/{email}/PasswordReset": {
    body?: {
      ApplicationId?: string;
    };
    answer: {
      Message: string;
    };
  };
  /** Complete what a link of a mail is for; browsers get a page instead */
  "GET /legacy/api/Authentication/Action/{id}/{type}": {
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Completed: true;
    };
  };
  /** Complete what a link of a mail is for, with what it needs */
  "POST /legacy/api/Authentication/Action/{id}/{type}": {
    body?: {
      NewPassword?: string;
    };
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Completed: true;
    };
  };
  /** Confirm the address of a registration; browsers get a page instead */
  "GET /legacy/api/Authentication/User/Register/Complete/{key}": {
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Completed: true;
    };
  };
  /** What completing a link needs; changes nothing */
  "GET /legacy/api/Authentication/Action/{id}/{type}/Requirement": {
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Requires: "NewPassword"[];
      ExpiresAt: string;
    };
  };
  /** Who holds a session key, and how they proved who they are, with {key} */
  "GET /legacy/api/Authentication/Account/VerifyIdentity/{key}": {
    answer: {
      Verified: true;
      User: LegacyUser;
      AuthTime: string;
      /** RFC 8176 */
      Amr: string[];
    };
  };
  /** The holder of a session key; with `true` or `extendSetting` the application's settings too */
  "GET /legacy/api/User/Profile/{appId}/{key}": {
    answer: LegacyUser & {
      Settings?: {
        [key: string]: unknown;
      };
    };
  };
  /** Replace what an application keeps about the holder of a session key; signed */
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
  /** The holder of a session key; with `true` or `extendSetting` the application's settings too, with {extendSetting} */
  "GET /legacy/api/User/Profile/{appId}/{key}/{extendSetting}": {
    answer: LegacyUser & {
      Settings?: {
        [key: string]: unknown;
      };
    };
  };
  /** What a user is signed in to by session keys */
  "GET /legacy/api/User/{userId}/ServiceSessions": {
    item: ServiceSession;
  };
  /** Whether nobody of the organisation has this username */
  "GET /legacy/api/User/Username/Available/{username}": {
    answer: {
      Available: boolean;
    };
  };
  /** The applications of the caller's organisation */
  "GET /legacy/api/Organisation/Application/List": {
    item: LegacyApplication;
  };
  /** The applications that the caller may act for */
  "GET /legacy/api/Organisation/External/Application/List": {
    item: LegacyApplication;
  };
  /** The applications of an organisation, which is the caller's */
  "GET /legacy/api/Organisations/{appId}/{publicId}/application/list": {
    item: LegacyApplication;
  };
  /** Validate the session key of a federation login */
  "GET /legacy/api/auth/validate": {
    query: {
      /** the session key */
      key: string;
    };
    answer: ValidSessionKey;
  };
  /** Whether a session key is valid, and whose it is */
  "GET /legacy/api/Keys/User/{key}": {
    answer: ValidSessionKey;
  };
  /** A temporary key of the same user and application */
  "POST /legacy/api/Keys/User/{key}/Convert/To/UserTemp": {
    answer: ConvertedSessionKey;
  };
  /** A permanent key of the same user and application */
  "POST /legacy/api/Keys/User/{key}/Convert/To/UserPerm": {
    answer: ConvertedSessionKey;
  };
  /** Whether the key's user may use an application of the organisation */
  "GET /legacy/api/Keys/User/{key}/Permission/{appId}": {
    answer: {
      /** whether the user may use the application */
      Permitted: boolean;
      Role: "Standard" | "Administrator";
    };
  };
};
