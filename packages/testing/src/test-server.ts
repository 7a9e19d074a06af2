/** The part of `@signet/server` that this package uses, loaded when an issuer is made: the import takes most of its time. */

/** An application as the server has it. */
export interface ServerApplication {
  readonly key: string;
  readonly name: string;
  readonly clientId: string;
  readonly clientType: string;
  readonly clientSecret?: string;
  readonly url?: string;
  readonly redirectUris: readonly string[];
  readonly audience?: string;
}

export interface ServerUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

export interface ServerOrganisation {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly applications: readonly ServerApplication[];
  readonly users: readonly ServerUser[];
}

interface Person {
  readonly orgId: string;
  readonly userId: string;
}

export interface TestServer {
  readonly baseUrl: string;
  organisations(): readonly ServerOrganisation[];
  startSession(who: Person): Promise<{ readonly name: string; readonly value: string }>;
  isSignedIn(orgId: string, cookie: string): Promise<boolean>;
  signOutEverywhere(who: Person): Promise<void>;
  resign(orgId: string, token: string, claims: Readonly<Record<string, unknown>>): Promise<string>;
  apply(document: unknown): Promise<void>;
  close(): Promise<void>;
}

interface Development {
  openTestServer(
    document: unknown,
    options: { readonly port?: number; readonly clock?: () => number },
  ): Promise<TestServer>;
}

/** The server has no declarations: it is a program. */
const DEVELOPMENT: string = "@signet/server/development";

export const loadServer = async (): Promise<Development> => (await import(DEVELOPMENT)) as Development;
