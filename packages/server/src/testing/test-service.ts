/** A whole server for a test: storage, core, routes, listening on a free loopback port, with organisations to use. */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { createApp } from "../app.ts";
import { readConfig } from "../config/config.ts";
import type { Application, ApplicationSettings } from "../core/applications/application.ts";
import { createApplication } from "../core/applications/applications.ts";
import { createClientSecret } from "../core/applications/client-secrets.ts";
import type { Clock } from "../core/clock.ts";
import { issuerOf, type Organisation } from "../core/organisations/organisation.ts";
import { createOrganisation } from "../core/organisations/organisations.ts";
import type { PasswordHasher } from "../core/passwords/password-hasher.ts";
import { listCustomScopes } from "../core/scopes/scopes.store.ts";
import { standardScopes } from "../core/scopes/scopes.ts";
import { createUser } from "../core/users/users.ts";
import type { Db } from "../db/open.ts";
import type { Replica } from "../db/replica.ts";
import { type AdmissionLimits, defaultAdmissionLimits } from "../http/admission/admission-limits.ts";
import type { Refusal } from "../http/error-handlers.ts";
import type { ConnectionBounds } from "../http/listeners/connection-bounds.ts";
import type { RequestLine } from "../http/request-log.ts";
import type { AppOptions } from "../modules/app-context.ts";
import { type OpenListeners, openCertificateListeners } from "../modules/certificate-listeners.ts";
import { openService, type Service, type ServiceOptions, withMailbox } from "../modules/open-service.ts";
import { quickPasswords } from "./fakes/quick-passwords.ts";
import { quickSigningKeys } from "./fakes/quick-signing-keys.ts";
import { freePort } from "./free-port.ts";
import { watchLateErrors } from "./late-errors.ts";
import { watchOpenAnswers } from "./open-answers.ts";
import { unauditedActs } from "./probes/audited-acts.ts";
import { watchChallenges } from "./probes/unnamed-schemes.ts";
import { watchActs } from "./probes/watched-acts.ts";

export interface TestService {
  readonly service: Service;
  readonly app: FastifyInstance;
  readonly baseUrl: string;
  /** For certificates, where `env` has their settings (test-listeners.ts). */
  readonly listeners: OpenListeners;
  /** What the request log wrote, what was refused and why, and the errors that were logged. */
  readonly lines: RequestLine[];
  /** Those of every request that was answered until now: what a test counts (open-answers.ts). */
  linesSoFar(): Promise<readonly RequestLine[]>;
  readonly refused: Refusal[];
  readonly errors: unknown[];
  /** Those of them that were logged with status 503, which `signet start` counts (busy-log.ts). */
  readonly busy: unknown[];
  /** What the listener for proxies has refused. */
  readonly refusals: string[];
  /**
   * @throws when a request has changed something that the audit log does not tell (audited-acts.ts), or when something was
   * thrown after an answer was sent (late-errors.ts)
   */
  close(): Promise<void>;
}

export interface TestServiceOptions {
  /** As in DATABASE_URL. */
  readonly databaseUrl: string;
  readonly clock?: Clock;
  /** The same key on every node of one test. */
  readonly masterKey?: string;
  /** Given to a second node, so that both have one issuer; or made of the port, for a browser that wants a name. */
  readonly baseUrl?: string | ((port: number) => string);
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Instead of `quickPasswords`: Argon2id takes twenty milliseconds of a core each time, and few tests are about it. `argon2id`
   * is the service's own; another one e.g. counts its calls or fills its queue.
   */
  readonly passwords?: PasswordHasher | "argon2id";
  /** The test itself does something in the middle of requests, which would count as theirs. */
  readonly isMeddling?: boolean;
  /** Demo mode, with what this makes. */
  readonly demo?: (service: Service) => Promise<AppOptions["demo"]>;
  /** Observes every statement. */
  readonly around?: ServiceOptions["around"];
  /** Stands for SIGNET_DATABASE_REPLICA_URL. */
  readonly replica?: Replica;
  /**
   * No request is answered before the framework's router. Default: on PostgreSQL, so that the tests of both databases take both
   * ways (http/calls/direct-calls.ts); SIGNET_TEST_WAYS=swapped turns it round.
   */
  readonly isFrameworkAlone?: boolean;
  /** Of every listener; default: the service's own. */
  readonly connectionBounds?: ConnectionBounds;
  /** Default: none, as tests ask for hundreds of answers at once on a busy machine. */
  readonly admission?: AdmissionLimits;
}

const unlimited: AdmissionLimits = { ...defaultAdmissionLimits, all: 1_000_000, each: 1_000_000 };

export const TEST_MASTER_KEY = Buffer.alloc(32, 42).toString("base64url");

/**
 * @returns the server, listening; call `close` in the suite's `after`
 * @throws what kept it from starting; nothing of it is left open, which would keep the test's process
 */
export async function startTestService(options: TestServiceOptions): Promise<TestService> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    return await start(options, closing, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Nodes of one service that start at the same moment.
 * @throws what kept one from starting; the others are closed
 */
export async function startTestServices(options: TestServiceOptions, count: number): Promise<TestService[]> {
  const starts = await Promise.allSettled(Array.from({ length: count }, () => startTestService(options)));
  const started = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  const failed = starts.find((start) => start.status === "rejected");
  if (!failed) return started;
  await Promise.all(started.map((node) => node.close()));
  throw failed.reason;
}

async function start(
  options: TestServiceOptions,
  closing: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), "signet-test-"));
  closing.push(() => rm(dataDir, { recursive: true, force: true }));
  const port = await freePort();
  const { baseUrl = `http://127.0.0.1:${port}` } = options;
  const config = readConfig({
    PORT: String(port),
    HOST: "127.0.0.1",
    SIGNET_BASE_URL: typeof baseUrl === "string" ? baseUrl : baseUrl(port),
    SIGNET_DATA_DIR: dataDir,
    DATABASE_URL: await withSchema(options.databaseUrl, dataDir),
    SIGNET_MASTER_KEY: options.masterKey ?? TEST_MASTER_KEY,
    ...options.env,
  });
  const lines: RequestLine[] = [];
  const refused: Refusal[] = [];
  const refusals: string[] = [];
  const errors: unknown[] = [];
  const busy: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const watch = watchActs();
  const opened = await openService(config, {
    around: (dialect) => watch.dialect(options.around?.(dialect) ?? dialect),
    ...(options.clock ? { clock: options.clock } : {}),
    onError,
    isDemo: options.demo !== undefined,
    newPrivateKey: quickSigningKeys(nameOf(options.databaseUrl)),
    replica: options.replica,
  });
  closing.push(() => opened.close());
  const { passwords = quickPasswords } = options;
  const withPasswords = { ...opened, passwords: passwords === "argon2id" ? opened.passwords : passwords };
  const demo = await options.demo?.(withPasswords);
  const service = demo ? withMailbox(withPasswords) : withPasswords;
  const app = await createApp(service, {
    nodeName: "test",
    logRequest: (line) => lines.push(line),
    logError: (error, _, status) => {
      errors.push(error);
      if (status === 503) busy.push(error);
    },
    logDocuments: () => {},
    logRefusal: (refusal) => refused.push(refusal),
    isDraining: () => false,
    isFrameworkAlone: options.isFrameworkAlone ?? takesFramework(options.databaseUrl),
    connectionBounds: options.connectionBounds,
    admission: options.admission ?? unlimited,
    ...(demo ? { demo } : {}),
  });
  closing.push(() => app.close());
  const events = {
    reloaded: () => {},
    failed: (error: unknown) => errors.push(error),
    refused: (cause: string) => refusals.push(cause),
  };
  const listeners = await openCertificateListeners(app, config, events, options.connectionBounds);
  watch.watch(app.server);
  const answers = watchOpenAnswers(app.server);
  const late = watchLateErrors(app.server);
  const unnamed = watchChallenges(app.server);
  closing.push(async () => late.end());
  await app.listen({ host: "127.0.0.1", port });
  await listeners.listen();
  return {
    service,
    app,
    baseUrl: `http://127.0.0.1:${port}`,
    listeners,
    lines,
    linesSoFar: async () => {
      await answers.ended();
      return [...lines];
    },
    refused,
    errors,
    busy,
    refusals,
    close: async () => {
      await close();
      if (late.found().length > 0)
        throw new Error(`thrown after the answer was sent:\n${late.found().join("\n")}`);
      if (unnamed().length > 0) throw new Error(`401 without WWW-Authenticate:\n${unnamed().join("\n")}`);
      const silent = options.isMeddling ? [] : unauditedActs(watch.acts());
      if (silent.length > 0) throw new Error(`nothing in the audit log says so:\n${silent.join("\n")}`);
    },
  };
}

/** A database in memory for whom the schema is not there yet: a file with it, which `npm test` has made, is copied in no time. */
async function withSchema(databaseUrl: string, dataDir: string): Promise<string> {
  const template = process.env["SIGNET_TEST_TEMPLATE_FILE"];
  if (databaseUrl !== "sqlite::memory:" || template === undefined) return databaseUrl;
  const file = join(dataDir, "template.db");
  await copyFile(template, file);
  return `sqlite:${file}`;
}

const takesFramework = (databaseUrl: string): boolean =>
  databaseUrl.startsWith("postgres") !== (process.env["SIGNET_TEST_WAYS"] === "swapped");

let databasesInMemory = 0;
/** Every database in memory is another one. */
const nameOf = (databaseUrl: string): string =>
  databaseUrl.includes(":memory:") ? `${databaseUrl} ${databasesInMemory++}` : databaseUrl;

export interface TestOrganisation {
  readonly organisation: Organisation;
  readonly issuer: string;
  readonly user: { readonly id: string; readonly email: string; readonly password: string };
  /** Confidential, all five scopes, consent asked. */
  readonly web: TestClient;
  /** Confidential, client credentials only. */
  readonly batch: TestClient;
  /** Public, PKCE, loopback redirect with any port. */
  readonly native: Application;
}

export interface TestClient {
  readonly application: Application;
  readonly secret: string;
}

export const REDIRECT_URI = "https://app.example/callback";
export const PASSWORD = "plum tractor ninety";

export async function makeOrganisation(service: Service, name = "Acme"): Promise<TestOrganisation> {
  const organisation = await createOrganisation(service, service.database.query, { name, actor: "test" });
  const email = `user@${name.toLowerCase()}.example`;
  const id = await createUser(service, {
    organisation,
    email,
    password: PASSWORD,
    firstname: "Uma",
    surname: "User",
    phone: "+4512345678",
    role: "Standard",
    emailVerified: true,
    actor: "test",
  });
  return {
    organisation,
    issuer: issuerOf(service.config.baseUrl, organisation.id),
    user: { id, email, password: PASSWORD },
    web: await makeClient(service, organisation, {
      redirectUris: [REDIRECT_URI],
      postLogoutRedirectUris: ["https://app.example/bye"],
    }),
    batch: await makeClient(service, organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: ["jobs:run"],
    }),
    native: await createApplication(service, {
      orgId: organisation.id,
      name: "Native",
      clientType: "native",
      settings: { redirectUris: ["http://127.0.0.1/callback", "com.example.app:/callback"] },
      actor: "test",
    }),
  };
}

/**
 * A confidential application with one secret. A scope that is not defined is written past the rules, as in a record that is
 * older than they are.
 */
export async function makeClient(
  service: Service,
  organisation: Organisation,
  settings: Partial<ApplicationSettings>,
): Promise<TestClient> {
  const orgId = organisation.id;
  const { allowedScopes } = settings;
  const { query } = service.database;
  const known = [...standardScopes, ...(await listCustomScopes(query, orgId)).map(({ name }) => name)];
  const defined = allowedScopes && { allowedScopes: allowedScopes.filter((one) => known.includes(one)) };
  const made = { orgId, name: "Web", clientType: "confidential", actor: "test" } as const;
  const created = await createApplication(service, { ...made, settings: { ...settings, ...defined } });
  const application = {
    ...created,
    settings: { ...created.settings, ...(allowedScopes ? { allowedScopes } : {}) },
  };
  await writeSettings(query, application);
  const applicationId = application.id;
  const secret = { orgId, applicationId, label: "test", expiresAt: null, actor: "test" };
  return { application, secret: (await createClientSecret(service, secret)).plaintext };
}

async function writeSettings(db: Db, { orgId, id, settings }: Application): Promise<void> {
  await db
    .updateTable("application")
    .set({ settings: JSON.stringify(settings) })
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .execute();
}
