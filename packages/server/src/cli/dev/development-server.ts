/** A development server: a real Signet on loopback, whose organisations are what a document says. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { randomSecret } from "@signet/protocol/hash";
import { createApp } from "../../app.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { startLogoutDelivery } from "../../core/backchannel-logout/delivery.ts";
import type { Clock } from "../../core/clock.ts";
import { startMailDelivery } from "../../core/mail/delivery.ts";
import { listOrganisations } from "../../core/organisations/organisations.store.ts";
import { loopbackNetworks } from "../../core/outbound/address-rules.ts";
import { mailComposer } from "../../modules/mail-content.ts";
import { openService, type Service, withMailbox } from "../../modules/open-service.ts";
import { type Applied, applyDocument, type Kept } from "./apply-document.ts";
import { checkDevelopmentDocument, type DevelopmentDocument } from "./development-document.ts";

export interface DevelopmentServer {
  readonly baseUrl: string;
  readonly service: Service;
  /** What the document's records have become. */
  readonly applied: Applied;
  /** Applies a changed document; the server goes on. @throws InvalidDocument, or why a record cannot be; nothing changed then */
  apply(document: unknown): Promise<Applied>;
  close(): Promise<void>;
}

export interface DevelopmentOptions {
  readonly document: DevelopmentDocument;
  readonly kept?: Kept;
  /** Nothing is kept of an earlier start: then nobody else's organisations may be there. */
  readonly isNew?: boolean;
  /** What the start page names. */
  readonly file?: string;
  readonly onError?: (error: unknown) => void;
}

/** @throws what kept it from starting; nothing of it is left open */
export async function startDevelopmentServer(
  config: Config,
  { document, kept = {}, isNew = false, file = "signet.dev.yaml", onError = () => {} }: DevelopmentOptions,
  clock?: Clock,
): Promise<DevelopmentServer> {
  const outboundAllow = [...config.outboundAllow, ...loopbackNetworks];
  const opened = await openService(
    { ...config, outboundAllow },
    { isDemo: true, onError, ...(clock ? { clock } : {}) },
  );
  const service = config.mail === undefined ? withMailbox(opened) : opened;
  const closing: (() => Promise<unknown>)[] = [() => opened.close()];
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    if (isNew) await requireEmpty(service);
    let applied = await applyDocument(service, checkDevelopmentDocument(document), kept);
    const app = await createApp(service, appOptions(applied, file, onError));
    closing.push(() => app.close());
    closing.push(startDeliveries(service, onError));
    await app.listen({ host: config.host, port: config.port });
    return {
      baseUrl: config.baseUrl,
      service,
      get applied() {
        return applied;
      },
      apply: async (changed) => {
        applied = await applyDocument(service, checkDevelopmentDocument(changed), applied.kept);
        return applied;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws when it is the database of a service */
async function requireEmpty({ database, config }: Service): Promise<void> {
  const [other] = await listOrganisations(database.query, { limit: 1 });
  if (other)
    throw new Error(
      `${config.dataDir} has a service's organisations: a development server needs a folder of its own`,
    );
}

const nothing = () => {};

function appOptions(
  { organisations, tryClientId }: Applied,
  file: string,
  onError: (error: unknown) => void,
) {
  const [first] = organisations;
  const demo = first && {
    organisationIds: organisations.map(({ id }) => id),
    orgId: first.id,
    clientId: tryClientId,
    credentialsFile: file,
  };
  return {
    nodeName: "dev",
    ...{ logRequest: nothing, logDocuments: nothing, logRefusal: nothing, logError: onError },
    isDraining: () => false,
    ...(demo ? { demo } : {}),
  };
}

function startDeliveries(service: Service, onError: (error: unknown) => void): () => Promise<void> {
  const { baseUrl } = service.config;
  const stopLogouts = startLogoutDelivery({ ...service, baseUrl, onError });
  const compose = mailComposer({ ...service, baseUrl });
  const stopMails = startMailDelivery({
    ...service,
    compose,
    transport: service.mailTransport,
    note: nothing,
    onError,
  });
  return async () => {
    await Promise.all([stopLogouts(), stopMails()]);
  };
}

/** One that lives as long as its process: a database in memory, a random port of loopback, a key of its own. */
export async function startMemoryServer(
  document: unknown,
  {
    port,
    clock,
    onError,
  }: { readonly port?: number; readonly clock?: Clock; readonly onError?: (error: unknown) => void } = {},
): Promise<DevelopmentServer> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "signet-dev-"));
  const remove = () => rm(dataDir, { recursive: true, force: true });
  try {
    const config = readConfig({
      PORT: String(port ?? (await freePort())),
      HOST: "127.0.0.1",
      SIGNET_DATA_DIR: dataDir,
      DATABASE_URL: "sqlite::memory:",
      SIGNET_MASTER_KEY: randomSecret("", 32),
    });
    const checked = checkDevelopmentDocument(document);
    const address = { ...config, baseUrl: `http://127.0.0.1:${config.port}` };
    const server = await startDevelopmentServer(
      address,
      { document: checked, ...(onError ? { onError } : {}) },
      clock,
    );
    return {
      ...server,
      get applied() {
        return server.applied;
      },
      close: () => server.close().finally(remove),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen({ host: "127.0.0.1", port: 0 }, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
