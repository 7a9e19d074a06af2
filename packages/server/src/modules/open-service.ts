/** Opens what the server and the operators' commands share: storage, keys and the core's nouns. */
import { mkdir } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import { addActivity } from "../core/activity/activity.store.ts";
import { type Activity, activityCounts } from "../core/activity/activity.ts";
import { type ApplicationDirectory, applicationDirectory } from "../core/applications/applications.ts";
import { type ClientKeys, clientKeys } from "../core/applications/client-keys.ts";
import { type SecretUse, secretUse } from "../core/applications/secret-use.ts";
import type { Clock } from "../core/clock.ts";
import { type DeviceCa, deviceCa } from "../core/device-ca/authority.ts";
import { requireOpeningCaKey } from "../core/device-ca/ca-key.ts";
import { createEncryption, deriveKey, type Encryption } from "../core/encryption/encryption.ts";
import { loadMasterKey } from "../core/encryption/master-key.ts";
import { type Outbox, outbox } from "../core/mail/outbox.ts";
import { smtpTransport } from "../core/mail/smtp.ts";
import { demoMailbox, type MailTransport, noMail } from "../core/mail/transport.ts";
import { type OrganisationDirectory, organisationDirectory } from "../core/organisations/organisations.ts";
import { type Outbound, outbound } from "../core/outbound/outbound.ts";
import { createPasswordHasher, type PasswordHasher } from "../core/passwords/password-hasher.ts";
import { type CustomScopeDirectory, customScopeDirectory } from "../core/scopes/custom-scopes.ts";
import {
  requireOpeningKey,
  type SigningKeyDeps,
  type SigningKeys,
  signingKeys,
} from "../core/signing-keys/signing-keys.ts";
import { type SigningPoolDirectory, signingPoolDirectory } from "../core/signing-pools/directory.ts";
import { type SystemAccountDirectory, systemAccountDirectory } from "../core/system-accounts/directory.ts";
import { type AccessTokens, accessTokens } from "../core/tokens/access-tokens.ts";
import { localSigner, type Signer } from "../core/tokens/signer.ts";
import { type ChangeFeed, openChangeFeed } from "../db/change-feed.ts";
import { migrate } from "../db/migrate.ts";
import { type Database, openDatabase } from "../db/open.ts";

export interface Service {
  readonly config: Config;
  readonly clock: Clock;
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly masterKey: Buffer;
  readonly encryption: Encryption;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly customScopes: CustomScopeDirectory;
  /** The one way out, to addresses that somebody else registered. */
  readonly outbound: Outbound;
  readonly clientKeys: ClientKeys;
  readonly keys: SigningKeys;
  readonly signingPools: SigningPoolDirectory;
  readonly deviceCa: DeviceCa;
  readonly signer: Signer;
  readonly accessTokens: AccessTokens;
  readonly passwords: PasswordHasher;
  readonly secretUse: SecretUse;
  readonly activity: Activity;
  readonly systemAccounts: SystemAccountDirectory;
  readonly outbox: Outbox;
  /** What takes the mails out of the outbox, in `signet start`. */
  readonly mailTransport: MailTransport;
  /** Migrations that this start applied. */
  readonly migrated: readonly string[];
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly clock?: Clock;
  /** An error of background work, which no request can be told of. */
  onError(error: unknown): void;
  /** For tests, which make hundreds of organisations. */
  readonly newPrivateKey?: SigningKeyDeps["newPrivateKey"];
  /** For tests, which look at every statement. */
  readonly around?: Parameters<typeof openDatabase>[2] | undefined;
}

/** @throws when the data folder, the key or the database cannot be used */
export async function openService(config: Config, options: ServiceOptions): Promise<Service> {
  const clock = options.clock ?? Date.now;
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const masterKey = await loadMasterKey(config.masterKey, config.dataDir);
  const database = openDatabase(config.databaseUrl, config.databasePoolSize, options.around);
  try {
    const migrated = await migrate(database);
    const changes = await openChangeFeed(database);
    const encryption = createEncryption(masterKey);
    await requireOpeningKey(database.query, encryption);
    await requireOpeningCaKey(database.query, encryption);
    const shared = { database, changes, clock };
    const applications = applicationDirectory(shared);
    const { newPrivateKey } = options;
    const rotation = { rotationDays: config.keyRotationDays, newPrivateKey };
    const keys = signingKeys({ ...shared, encryption, ...rotation });
    const signingPools = signingPoolDirectory(shared);
    const wayOut = outbound({ allow: config.outboundAllow });
    const use = secretUse({ database, clock, onError: options.onError });
    const activity = countsIn(database, clock, options);
    const systemAccounts = systemAccountDirectory({ ...shared, encryption, onError: options.onError });
    return {
      config,
      ...shared,
      masterKey,
      encryption,
      organisations: organisationDirectory(shared),
      applications,
      customScopes: customScopeDirectory(shared),
      outbound: wayOut,
      clientKeys: clientKeys({ outbound: wayOut, clock }),
      keys,
      signer: localSigner(keys),
      signingPools,
      deviceCa: deviceCa({ ...shared, encryption, baseUrl: config.baseUrl }),
      accessTokens: accessTokens({ ...shared, baseUrl: config.baseUrl, keys, signingPools, applications }),
      passwords: createPasswordHasher({ concurrency: config.passwordConcurrency }),
      secretUse: use,
      activity,
      systemAccounts,
      outbox: outbox({ encryption, clock, isOpen: config.mail !== undefined }),
      mailTransport: mailTransportOf(config),
      migrated,
      close: async () => {
        await use.close().catch(options.onError);
        await systemAccounts.close().catch(options.onError);
        await activity.close().catch(options.onError);
        await changes.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

const countsIn = (database: Database, clock: Clock, { onError }: ServiceOptions): Activity =>
  activityCounts({ clock, write: (rows) => addActivity(database.query, rows), onError });

const mailTransportOf = ({ mail, baseUrl }: Config): MailTransport =>
  mail ? smtpTransport(mail.smtp, mail.sender, baseUrl) : noMail();

/** Demo mode: mail that would go nowhere goes to the mailbox page. */
export function withMailbox(service: Service): Service {
  if (service.mailTransport.kind !== "none") return service;
  return { ...service, outbox: outbox({ ...service, isOpen: true }), mailTransport: demoMailbox() };
}

/** The key that refresh tokens are derived with; the same on every node of one master key. */
export const refreshTokenKey = (masterKey: Buffer): Buffer => deriveKey(masterKey, "refresh-token");
