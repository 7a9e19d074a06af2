/** Calls of the legacy API. Made by generators/management-types.ts from /openapi.json: do not edit. */
import type {
  ConvertedSessionKey,
  LegacyApplication,
  LegacyUser,
  ServiceSession,
  ValidSessionKey,
} from "./legacy-records.ts";

export type LegacyCalls = {
  /** Get a user by email address */
  "POST /legacy/api/users/get": {
    body: {
      email: string;
      ApplicationId?: string;
    };
    answer: LegacyUser;
  };
  /** Sign a user in by email and password */
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
  /** Sign a user in by email and password, with {appId} */
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
  /** Register a user; the address is verified by email */
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
  /** Register a user of the organisation in the path, which must be the caller's */
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
  /** Invite a user of another organisation */
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
  /** Email a link to set a new password */
  "POST /legacy/api/Authentication/User/{email}/PasswordReset": {
    body?: {
      ApplicationId?: string;
    };
    answer: {
      Message: string;
    };
  };
  /** Complete an email link; browsers get a page instead */
  "GET /legacy/api/Authentication/Action/{id}/{type}": {
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Completed: true;
    };
  };
  /** Complete an email link with its required input */
  "POST /legacy/api/Authentication/Action/{id}/{type}": {
    body?: {
      NewPassword?: string;
    };
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Completed: true;
    };
  };
  /** Verify the address of a registration; browsers get a page instead */
  "GET /legacy/api/Authentication/User/Register/Complete/{key}": {
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Completed: true;
    };
  };
  /** Get the input that an email link requires; changes nothing */
  "GET /legacy/api/Authentication/Action/{id}/{type}/Requirement": {
    answer: {
      Type: "VerifyEmail" | "ResetPassword" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
      Requires: "NewPassword"[];
      ExpiresAt: string;
    };
  };
  /** Get the user of a session key and how they authenticated, with {key} */
  "GET /legacy/api/Authentication/Account/VerifyIdentity/{key}": {
    answer: {
      Verified: true;
      User: LegacyUser;
      AuthTime: string;
      /** RFC 8176 */
      Amr: string[];
    };
  };
  /** Get the user of a session key; with `true` or `extendSetting` also the application's settings */
  "GET /legacy/api/User/Profile/{appId}/{key}": {
    answer: LegacyUser & {
      Settings?: {
        [key: string]: unknown;
      };
    };
  };
  /** Replace the application's settings for the user of a session key; requires a signature */
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
  /** Get the user of a session key; with `true` or `extendSetting` also the application's settings, with {extendSetting} */
  "GET /legacy/api/User/Profile/{appId}/{key}/{extendSetting}": {
    answer: LegacyUser & {
      Settings?: {
        [key: string]: unknown;
      };
    };
  };
  /** List the active session keys of a user */
  "GET /legacy/api/User/{userId}/ServiceSessions": {
    item: ServiceSession;
  };
  /** Check whether a username is available */
  "GET /legacy/api/User/Username/Available/{username}": {
    answer: {
      Available: boolean;
    };
  };
  /** List the applications of the caller's organisation */
  "GET /legacy/api/Organisation/Application/List": {
    item: LegacyApplication;
  };
  /** List the applications that the caller may act for */
  "GET /legacy/api/Organisation/External/Application/List": {
    item: LegacyApplication;
  };
  /** List the applications of an organisation, which must be the caller's */
  "GET /legacy/api/Organisations/{appId}/{publicId}/application/list": {
    item: LegacyApplication;
  };
  /** Validate the session key of a federation login */
  "GET /legacy/api/auth/validate": {
    query: {
      /** The session key. */
      key: string;
    };
    answer: ValidSessionKey;
  };
  /** Validate a session key and get its user */
  "GET /legacy/api/Keys/User/{key}": {
    answer: ValidSessionKey;
  };
  /** Convert to a temporary key */
  "POST /legacy/api/Keys/User/{key}/Convert/To/UserTemp": {
    answer: ConvertedSessionKey;
  };
  /** Convert to a permanent key */
  "POST /legacy/api/Keys/User/{key}/Convert/To/UserPerm": {
    answer: ConvertedSessionKey;
  };
  /** Check whether the key's user may use an application */
  "GET /legacy/api/Keys/User/{key}/Permission/{appId}": {
    answer: {
      /** Whether the user may use the application */
      Permitted: boolean;
      Role: "Standard" | "Administrator";
    };
  };
};
