/** A Keycloak of this machine alone: started on loopback, with everything in memory, and set up by its own administration API. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { missingProgram } from "../../e2e/support/programs.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { keptFolder } from "../kept-folder.ts";
import { type RunningProgram, startProgram } from "../program.ts";

const VERSION = "26.4.7";
const folder = keptFolder("keycloak");
const home = path.join(folder, `keycloak-${VERSION}`);
/** `kcadm.sh` and others. */
export const keycloakPrograms = path.join(home, "bin");
const PASSWORD = "a password of the bootstrap";
const administrator = {
  KC_BOOTSTRAP_ADMIN_USERNAME: "admin",
  KC_BOOTSTRAP_ADMIN_PASSWORD: PASSWORD,
};
/** Nearly all of it is its own start, on a machine with other work. */
const STARTS_WITHIN_MS = 6 * 60_000;

export function missingKeycloak(): string | false {
  const missing = missingProgram("java", ["-version"]);
  if (missing !== false) return missing;
  const built = path.join(folder, "built");
  const isBuilt = existsSync(built) && readFileSync(built, "utf8").trim() === VERSION;
  return !isBuilt && `Keycloak ${VERSION} is not installed`;
}

export interface KeycloakRealm {
  /** Also the start of all its addresses. */
  readonly issuer: string;
  readonly samlMetadataUrl: string;
  /**
   * @param path below the realm of the administration API
   * @throws Error with Keycloak's own words for any status but 2xx
   */
  admin(method: string, path: string, body?: object | string): Promise<unknown>;
}

export interface Keycloak {
  readonly origin: string;
  makeRealm(realm: string, content: object): Promise<KeycloakRealm>;
  output(): string;
  stop(): Promise<void>;
}

/** As bin/kc.sh does, which would start it as a child of its own, and take our signals for itself. */
const java = [
  // It is there for minutes: compiling hot code thoroughly would take longer than it saves.
  ...["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djava.net.preferIPv4Stack=true"],
  ...["util", "util.concurrent", "security"].map((name) => `--add-opens=java.base/java.${name}=ALL-UNNAMED`),
  "-Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory",
  ...["-Djava.util.logging.manager=org.jboss.logmanager.LogManager", "-Dpicocli.disable.closures=true"],
  ...[`-Dkc.home.dir=${home}`, `-Djboss.server.config.dir=${path.join(home, "conf")}`],
  ...["-cp", path.join(home, "lib/quarkus-run.jar"), "io.quarkus.bootstrap.runner.QuarkusEntryPoint"],
];

/** Each has its own database in memory. @throws Error with what it printed */
export async function startKeycloak(): Promise<Keycloak> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const { output, stop } = await runKeycloak(origin, administrator);
  return { ...client(origin), output, stop };
}

/**
 * @param origin where it listens, on loopback
 * @param environment with its first administrator
 */
export function runKeycloak(
  origin: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<RunningProgram> {
  const port = Number(new URL(origin).port);
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const options = [
    ...["start", "--optimized", "--cache=local", "--http-enabled=true", "--http-host=127.0.0.1"],
    ...[`--http-port=${port}`, `--hostname=${origin}`],
  ];
  return startProgram("Keycloak", ["env", ...variables, ...java, ...options], {
    ...{ port, startsWithinMs: STARTS_WITHIN_MS },
  });
}

function client(origin: string): Pick<Keycloak, "origin" | "makeRealm"> {
  /** Of a minute: each call asks for its own. */
  const token = async (): Promise<string> => {
    const form = { grant_type: "password", client_id: "admin-cli", username: "admin", password: PASSWORD };
    const address = `${origin}/realms/master/protocol/openid-connect/token`;
    const answer = await fetch(address, { method: "POST", body: new URLSearchParams(form) });
    const { access_token: value } = (await answer.json()) as { access_token?: string };
    if (value === undefined) throw new Error(`no token of Keycloak's: ${answer.status}`);
    return value;
  };
  const call = async (method: string, at: string, body?: object | string): Promise<unknown> => {
    const answer = await fetch(`${origin}/admin/realms${at}`, {
      method,
      headers: {
        authorization: `Bearer ${await token()}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${at}: ${answer.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  return {
    origin,
    makeRealm: async (realm, content) => {
      await call("POST", "", { realm, enabled: true, ...content });
      const issuer = `${origin}/realms/${realm}`;
      return {
        ...{ issuer, samlMetadataUrl: `${issuer}/protocol/saml/descriptor` },
        admin: (method, at, body) => call(method, `/${realm}${at}`, body),
      };
    },
  };
}
