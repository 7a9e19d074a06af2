/** Calls of the management API. Made by generators/management-types.ts from /openapi.json: do not edit. */
import type {
  AssignedUser,
  ChangedClient,
  ChangedScope,
  ChangedSystemAccount,
  Client,
  Consent,
  CreatedClient,
  CreatedClientSecret,
  CreatedSystemAccount,
  CreatedSystemAccountKey,
  NewClient,
  NewScope,
  NewSystemAccount,
  Preauthorization,
  Scope,
  SystemAccount,
} from "./management-records.ts";

export type ManagementCalls = {
  /** The organisation's OAuth clients, oldest first */
  "GET /legacy/api/oauth/clients": {
    item: Client;
  };
  /** Make an OAuth client; a confidential one gets its first secret, shown once */
  "POST /legacy/api/oauth/clients": {
    body: NewClient;
    answer: CreatedClient;
  };
  /** One OAuth client */
  "GET /legacy/api/oauth/clients/{clientId}": {
    answer: Client;
  };
  /** Replace an OAuth client's record: what is left out gets its default again */
  "PUT /legacy/api/oauth/clients/{clientId}": {
    body: ChangedClient;
    answer: Client;
  };
  /** Delete an OAuth client with all that hangs on it, for good */
  "DELETE /legacy/api/oauth/clients/{clientId}": Record<string, never>;
  /** Give a confidential client another secret, shown once; the old ones work on */
  "POST /legacy/api/oauth/clients/{clientId}/rotate-secret": {
    body?: {
      /** to tell it from the others; at most 100 characters */
      label?: string;
      /** never, when left out */
      expiresAt?: string;
      /** the others work until they are revoked, when left out */
      expireOthersInSeconds?: number;
    };
    answer: CreatedClientSecret;
  };
  /** End one secret, or all active ones but the newest, at once */
  "POST /legacy/api/oauth/clients/{clientId}/revoke-old-secret": {
    body?: {
      /** all but the newest, when left out */
      secretId?: string;
    };
  };
  /** The users assigned to an application, by PermId */
  "GET /legacy/api/oauth/clients/{clientId}/users": {
    item: AssignedUser;
  };
  /** Lets a user use an application whose access is for assigned users */
  "PUT /legacy/api/oauth/clients/{clientId}/users/{permId}": Record<string, never>;
  /** Takes a user off an application; what they hold there ends at once */
  "DELETE /legacy/api/oauth/clients/{clientId}/users/{permId}": Record<string, never>;
  /** The organisation's custom scopes, oldest first */
  "GET /legacy/api/oauth/scopes": {
    item: Scope;
  };
  /** Make a custom scope */
  "POST /legacy/api/oauth/scopes": {
    body: NewScope;
    answer: Scope;
  };
  /** One custom scope */
  "GET /legacy/api/oauth/scopes/{id}": {
    answer: Scope;
  };
  /** Replace a custom scope's record, its name excepted */
  "PUT /legacy/api/oauth/scopes/{id}": {
    body: ChangedScope;
    answer: Scope;
  };
  /** Delete a custom scope: it gives nothing any more */
  "DELETE /legacy/api/oauth/scopes/{id}": Record<string, never>;
  /** Consents of users and for the whole organisation, oldest first */
  "GET /legacy/api/oauth/consents": {
    query?: {
      clientId?: string;
      userId?: string;
      kind?: "user" | "organisation";
      /** true: those taken back too */
      revoked?: "true" | "false";
    };
    item: Consent;
  };
  /** One consent, also when it has been taken back */
  "GET /legacy/api/oauth/consents/{id}": {
    answer: Consent;
  };
  /** Take a consent back: the refresh tokens that rest on it end at once */
  "DELETE /legacy/api/oauth/consents/{id}": Record<string, never>;
  /** Allow a client scopes for all users: none of them is asked */
  "POST /legacy/api/oauth/consents/organisation": {
    body: {
      clientId: string;
      /** of those that the client may ask for */
      scopes: string[];
    };
    answer: Consent;
  };
  /** Allow a client scopes for one user, who is not asked */
  "POST /legacy/api/oauth/consents/user": {
    body: {
      clientId: string;
      /** of those that the client may ask for */
      scopes: string[];
      /** the user's PermId */
      userId: string;
    };
    answer: Consent;
  };
  /** The organisation's pre-authorizations, oldest first */
  "GET /legacy/api/oauth/preauthorizations": {
    query?: {
      clientId?: string;
    };
    item: Preauthorization;
  };
  /** Allow a client scopes ahead of any request: nobody is asked */
  "POST /legacy/api/oauth/preauthorizations": {
    body: {
      clientId: string;
      /** of those that the client may ask for */
      scopes: string[];
    };
    answer: Preauthorization;
  };
  /** One pre-authorization */
  "GET /legacy/api/oauth/preauthorizations/{id}": {
    answer: Preauthorization;
  };
  /** Delete a pre-authorization: the refresh tokens that rest on it end at once */
  "DELETE /legacy/api/oauth/preauthorizations/{id}": Record<string, never>;
  /** The organisation's system accounts, oldest first */
  "GET /legacy/api/oauth/system-accounts": {
    item: SystemAccount;
  };
  /** Make a system account with its first pair of keys, whose secret key is shown once */
  "POST /legacy/api/oauth/system-accounts": {
    body: NewSystemAccount;
    answer: CreatedSystemAccount;
  };
  /** One system account with its keys, never a secret key */
  "GET /legacy/api/oauth/system-accounts/{id}": {
    answer: SystemAccount;
  };
  /** Change a system account's name, the form of its signatures, and whether it is let in */
  "PUT /legacy/api/oauth/system-accounts/{id}": {
    body: ChangedSystemAccount;
    answer: SystemAccount;
  };
  /** Delete a system account with its keys; the audit log keeps what it did */
  "DELETE /legacy/api/oauth/system-accounts/{id}": Record<string, never>;
  /** Let a system account act for another application of the organisation */
  "PUT /legacy/api/oauth/system-accounts/{id}/permissions/{applicationId}": Record<string, never>;
  /** Take back a system account's permission on another application, at once */
  "DELETE /legacy/api/oauth/system-accounts/{id}/permissions/{applicationId}": Record<string, never>;
  /** Give a system account another pair of keys, whose secret key is shown once; the old ones work on */
  "POST /legacy/api/oauth/system-accounts/{id}/keys": {
    body?: {
      /** to tell it from the others; at most 100 characters */
      label?: string;
      /** never, when left out */
      expiresAt?: string;
      /** the others work until they are revoked, when left out */
      expireOthersInSeconds?: number;
    };
    answer: CreatedSystemAccountKey;
  };
  /** End one pair of keys, named by its public key, at once; the account's others are left alone */
  "DELETE /legacy/api/oauth/system-accounts/{id}/keys/{keyId}": Record<string, never>;
};
