/** Opens what the server and the CLI share: storage, keys and the services of the core. */

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import { addActivity } from "../core/activity/activity.store.ts";
import { type Activity, createActivity } from "../core/activity/activity.ts";
import { type ApplicationDirectory, applicationDirectory } from "../core/applications/applications.ts";
import { type ClientKeys, type ClientKeysDeps, clientKeys } from "../core/applications/client-keys.ts";
import { type SecretUse, secretUse } from "../core/applications/client-secrets.ts";
import { storedChainKey } from "../core/audit/chain/chain-key.ts";
import { type DetailTypeDirectory, detailTypeDirectory } from "../core/authorization-details/detail-types.ts";
import { asAgent } from "../core/client-metadata/agent-application.ts";
import { type ClientDocuments, clientDocuments } from "../core/client-metadata/client-documents.ts";
import {
  type ClientPolicyDirectory,
  clientPolicyDirectory,
} from "../core/client-metadata/client-policies.ts";
import { type RegistrationUse, registrationUse } from "../core/client-registration/registration-use.ts";
import type { Clock } from "../core/clock.ts";
import type { CoreDeps } from "../core/core-deps.ts";
import { type DeviceCa, deviceCa } from "../core/device-ca/authority.ts";
import { type LookUpTxt, txtLookup } from "../core/domains/txt-records.ts";
import { type DpopNonces, dpopNonces } from "../core/dpop/dpop-nonces.ts";
import { createEncryption, type Encryption } from "../core/encryption/encryption.ts";
import { deriveKeys, type KeyRing } from "../core/encryption/key-ring.ts";
import { findMasterKeys, loadMasterKeys } from "../core/encryption/master-key.ts";
import { type LedgerRecorder, ledgerRecorder } from "../core/ledger/recorder.ts";
import { type Outbox, outbox } from "../core/mail/outbox.ts";
import { smtpTransport } from "../core/mail/smtp.ts";
import { demoMailbox, type MailTransport, noMail } from "../core/mail/transport.ts";
import { type OrganisationDirectory, organisationDirectory } from "../core/organisations/organisations.ts";
import { nameResolver } from "../core/outbound/name-resolver.ts";
import { type Outbound, outbound } from "../core/outbound/outbound.ts";
import { createPasswordHasher, type PasswordHasher } from "../core/passwords/password-hasher.ts";
import {
  type ProtectedResourceDirectory,
  protectedResourceDirectory,
} from "../core/protected-resources/protected-resources.ts";
import { type AttemptQueue, createAttemptQueue } from "../core/rate-limits/attempt-queue.ts";
import type { RecordDeps } from "../core/record-changes.ts";
import { storedRefusedRequests } from "../core/refused-requests/refused-requests.store.ts";
import type { RefusedRequests } from "../core/refused-requests/refused-requests.ts";
import { type EntitlementDirectory, entitlementDirectory } from "../core/roles/entitlements.ts";
import { type CustomScopeDirectory, customScopeDirectory } from "../core/scopes/custom-scopes.ts";
import { type SessionBindings, sessionBindings } from "../core/sessions/session-bindings.ts";
import { type SigningKeyDeps, type SigningKeys, signingKeys } from "../core/signing-keys/signing-keys.ts";
import { type SigningPoolDirectory, signingPoolDirectory } from "../core/signing-pools/directory.ts";
import { type SystemAccountDirectory, systemAccountDirectory } from "../core/system-accounts/directory.ts";
import { type AccessTokens, accessTokens } from "../core/tokens/access-tokens.ts";
import { localSigner, type Signer } from "../core/tokens/signer.ts";
import { type TrustKeys, trustKeys } from "../core/trusts/trust-keys.ts";
import type { ChangeFeed } from "../db/change-feed.ts";
import { openStorage, requireNoEncryptedKeys, type StorageOptions } from "./open-storage.ts";

export interface Service extends CoreDeps {
  readonly config: Config;
  readonly changes: ChangeFeed;
  readonly isDemo: boolean | undefined;
  readonly masterKeys: KeyRing;
  readonly encryption: Encryption;
  /** Signs the heads of the audit chains. */
  readonly chainKey: Buffer;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly customScopes: CustomScopeDirectory;
  readonly protectedResources: ProtectedResourceDirectory;
  readonly clientPolicies: ClientPolicyDirectory;
  readonly clientDocuments: ClientDocuments;
  readonly detailTypes: DetailTypeDirectory;
  readonly entitlements: EntitlementDirectory;
  /** The only HTTP client for URLs that others registered. */
  readonly outbound: Outbound;
  readonly lookUpTxt: LookUpTxt;
  readonly clientKeys: ClientKeys;
  readonly trustKeys: TrustKeys;
  readonly keys: SigningKeys;
  readonly signingPools: SigningPoolDirectory;
  readonly deviceCa: DeviceCa;
  /** Records what is signed in the ledgers of organisations. */
  readonly ledger: LedgerRecorder;
  readonly signer: Signer;
  readonly dpopNonces: DpopNonces;
  readonly sessionBindings: SessionBindings;
  readonly accessTokens: AccessTokens;
  readonly passwords: PasswordHasher;
  readonly attempts: AttemptQueue;
  readonly secretUse: SecretUse;
  readonly registrationUse: RegistrationUse;
  readonly activity: Activity;
  readonly refusedRequests: RefusedRequests;
  readonly systemAccounts: SystemAccountDirectory;
  readonly outbox: Outbox;
  /** Delivers the outbox, in `signet start`. */
  readonly mailTransport: MailTransport;
  /** Migrations applied at this start. */
  readonly migrated: readonly string[];
  close(): Promise<void>;
}

export interface ServiceOptions extends StorageOptions {
  readonly clock?: Clock;
  /** See RecordDeps. */
  readonly isDemo?: boolean;
  /** Reports an error of background work, which belongs to no request. */
  onError(error: unknown): void;
  /** For tests, which create hundreds of organisations. */
  readonly newPrivateKey?: SigningKeyDeps["newPrivateKey"];
}

/** @throws when the data directory, the key or the database can't be used */
export async function openService(config: Config, options: ServiceOptions): Promise<Service> {
  const clock = options.clock ?? Date.now;
  const masterKeys = await openMasterKeys(config);
  const encryption = createEncryption(masterKeys);
  const storage = await openStorage(config, encryption, options);
  const { database, changes, migrated } = storage;
  try {
    const shared = { database, changes, clock, isDemo: options.isDemo };
    const noted = { database, clock, onError: options.onError };
    const registrations = registrationUse(noted);
    const clients = clientDirectories(shared, registrations);
    const rotation = { rotationDays: config.keyRotationDays, newPrivateKey: options.newPrivateKey };
    const keys = signingKeys({ ...shared, encryption, ...rotation });
    const recording = recorded(shared);
    const entitlements = entitlementDirectory(shared);
    const signingPools = signingPoolDirectory(shared);
    const directories = { ...clients, ...accessDirectories(shared), entitlements, signingPools };
    const asking = outsideWorld(config);
    const [use, activity, refused] = [secretUse(noted), storedActivity(noted), storedRefusedRequests(noted)];
    const systemAccounts = systemAccountDirectory({ ...shared, encryption, onError: options.onError });
    return {
      config,
      ...shared,
      masterKeys,
      encryption,
      chainKey: await storedChainKey(database, encryption, masterKeys),
      ...recording,
      ...directories,
      ...asking,
      clientDocuments: clientDocuments({ ...shared, ...asking, ...clients }),
      ...keysOfOthers({ ...asking, clock }),
      keys,
      signer: localSigner(keys, { database, ...recording }),
      deviceCa: deviceCa({ ...shared, encryption, baseUrl: config.baseUrl }),
      ...derived(masterKeys, clock),
      accessTokens: accessTokens({ ...shared, ...directories, baseUrl: config.baseUrl, keys }),
      ...guessing(config),
      secretUse: use,
      registrationUse: registrations,
      activity,
      refusedRequests: refused,
      systemAccounts,
      outbox: outbox({ encryption, clock, isOpen: config.mail !== undefined }),
      mailTransport: createMailTransport(config),
      migrated,
      close: async () => {
        for (const part of [use, registrations, systemAccounts, activity, refused])
          await part.close().catch(options.onError);
        await storage.close();
      },
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** What every node makes alike, without storing it. */
const derived = (masterKeys: KeyRing, clock: Clock) => ({
  dpopNonces: dpopNonces(deriveKeys(masterKeys, "dpop-nonce"), clock),
  sessionBindings: sessionBindings(deriveKeys(masterKeys, "session-binding"), clock),
});

function recorded(shared: RecordDeps): Pick<Service, "organisations" | "ledger"> {
  const organisations = organisationDirectory(shared);
  return { organisations, ledger: ledgerRecorder({ ...shared, organisations }) };
}

/** Clients, and what decides about those that nobody has registered by hand. */
function clientDirectories(shared: RecordDeps, registrations: RegistrationUse) {
  const protectedResources = protectedResourceDirectory(shared);
  const clientPolicies = clientPolicyDirectory(shared);
  const applications = applicationDirectory({
    ...shared,
    asAgent: async (one) => {
      registrations.note(one);
      return asAgent(one, await clientPolicies.of(one.orgId), await protectedResources.list(one.orgId));
    },
  });
  return { protectedResources, clientPolicies, applications };
}

/** What of an organisation's own may be asked for. */
const accessDirectories = (deps: Parameters<typeof customScopeDirectory>[0]) => ({
  customScopes: customScopeDirectory(deps),
  detailTypes: detailTypeDirectory(deps),
});

/** What asks other servers, for addresses and names that others registered. */
/** Keys of clients and of trusted issuers, which share the guard and the cache. */
function keysOfOthers(deps: ClientKeysDeps): Pick<Service, "clientKeys" | "trustKeys"> {
  const keys = clientKeys(deps);
  return { clientKeys: keys, trustKeys: trustKeys({ ...deps, clientKeys: keys }) };
}

function outsideWorld({ outboundAllow: allow, dnsServers }: Config) {
  const servers = dnsServers.length > 0 ? dnsServers : undefined;
  const resolver = servers ? { resolve: nameResolver({ servers }) } : {};
  return { outbound: outbound({ allow, ...resolver }), lookUpTxt: txtLookup(servers) };
}

async function openMasterKeys(config: Config): Promise<KeyRing> {
  // The first start makes a key: not for a database that is away, nor for one whose keys another one encrypted.
  if (isDatabaseMade(config.databaseUrl) && !(await findMasterKeys(config)))
    await requireNoEncryptedKeys(config.databaseUrl);
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  return loadMasterKeys(config);
}

/** PostgreSQL's always is; opening SQLite's would make it. */
const isDatabaseMade = (url: string): boolean =>
  url.startsWith("postgres") || existsSync(url.slice("sqlite:".length));

const guessing = ({ passwordConcurrency }: Config): Pick<Service, "passwords" | "attempts"> => ({
  passwords: createPasswordHasher({ concurrency: passwordConcurrency }),
  attempts: createAttemptQueue(),
});

const storedActivity = ({
  database,
  ...deps
}: Pick<CoreDeps, "database" | "clock"> & Pick<ServiceOptions, "onError">): Activity =>
  createActivity({ ...deps, write: (rows) => addActivity(database.query, rows) });

const createMailTransport = ({ mail, baseUrl }: Config): MailTransport =>
  mail ? smtpTransport(mail.smtp, mail.sender, baseUrl) : noMail();

/** Demo mode: without SMTP, emails go to the mailbox page. */
export function withMailbox(service: Service): Service {
  if (service.mailTransport.kind !== "none") return service;
  return { ...service, outbox: outbox({ ...service, isOpen: true }), mailTransport: demoMailbox() };
}

/** They derive refresh tokens; the same on every node with the same master keys. */
export const refreshTokenKeys = (masterKeys: KeyRing): KeyRing => deriveKeys(masterKeys, "refresh-token");

/** They derive registration access tokens. */
export const registrationTokenKeys = (masterKeys: KeyRing): KeyRing =>
  deriveKeys(masterKeys, "registration-access-token");
