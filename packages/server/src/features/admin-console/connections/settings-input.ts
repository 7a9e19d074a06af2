/** What the forms of connections hold, and what it asks the core for. */
import {
  type Connection,
  type DeletionPolicy,
  InvalidConnection,
} from "../../../core/connections/connection.ts";
import type { AskedSettings } from "../../../core/connections/sign-in/settings-rules.ts";
import {
  type AskedConnection,
  InvalidSignInConnection,
  isSignInConnection,
  type SignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import type {
  AssuranceRule,
  ClientAuthMethod,
  Expression,
  Mapping,
  SamlProvider,
  SignInSettings,
  UpstreamClient,
} from "../../../core/connections/sign-in/sign-in-settings.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { isTyped, noSaml, readSamlInput, type SamlInput, toSamlInput } from "./saml-input.ts";

export type ConnectionInput = SamlInput & {
  /** Of a new connection: its redirect URI is registered at the provider before there is a secret to save. */
  id: string;
  name: string;
  deletionPolicy: string;
  issuer: string;
  clientId: string;
  /** Never shown again: empty when nothing was typed, or the page comes back. */
  clientSecret: string;
  /** One was typed, and the page that came back could not hold it. */
  isSecretDue: boolean;
  tokenEndpointAuthMethod: string;
  scopes: string;
  shown: boolean;
  createAccounts: boolean;
  linking: string;
  emailTrust: string;
  mapping: string;
  assurance: string;
  upstreamLogout: boolean;
};

export type ConnectionField = Exclude<keyof ConnectionInput, "id" | "isSecretDue">;

/** The hidden field that says so. */
export const SECRET_DUE = "clientSecret-due";

const MAX_LETTERS = 20_000;

const noSettings = {
  ...noSaml,
  ...{
    issuer: "",
    clientId: "",
    tokenEndpointAuthMethod: "client_secret_basic",
    scopes: "",
  },
  ...{ shown: true, createAccounts: true, linking: "ask", emailTrust: "provenDomains" },
  ...{ mapping: "", assurance: "", upstreamLogout: true },
};

export const emptyConnection: ConnectionInput = {
  ...{ id: "", name: "", deletionPolicy: "disable", clientSecret: "", isSecretDue: false },
  ...noSettings,
};

export function toConnectionInput(connection: Connection): ConnectionInput {
  const { name, deletionPolicy } = connection;
  const own = { ...emptyConnection, name, deletionPolicy };
  if (!isSignInConnection(connection)) return own;
  const { mapping, assurance, ...settings } = connection.settings;
  const { shown, createAccounts, linking, emailTrust, upstreamLogout } = settings;
  return {
    ...own,
    ...(connection.settings.oidc ? clientInput(connection.settings.oidc) : {}),
    ...(connection.settings.saml ? toSamlInput(connection.settings.saml) : {}),
    ...{ shown, createAccounts, linking, emailTrust, upstreamLogout },
    ...{ mapping: mappingLines(mapping), assurance: assuranceLines(assurance) },
  };
}

const clientInput = ({ issuer, clientId, scopes, tokenEndpointAuthMethod }: UpstreamClient) => ({
  ...{ issuer, clientId, scopes: scopes.join(" "), tokenEndpointAuthMethod },
});

export function readConnectionInput(values: ReadonlyMap<string, string>): ConnectionInput {
  const text = (id: string) => (values.get(id) ?? "").trim().slice(0, MAX_LETTERS);
  const isOn = (id: string) => values.get(id) === "on";
  return {
    ...{ id: text("id"), name: text("name"), deletionPolicy: text("deletionPolicy") },
    ...readSamlInput(values),
    ...{ issuer: text("issuer"), clientId: text("clientId"), clientSecret: text("clientSecret") },
    isSecretDue: values.has(SECRET_DUE) || text("clientSecret") !== "",
    ...{ tokenEndpointAuthMethod: text("tokenEndpointAuthMethod"), scopes: text("scopes") },
    ...{ shown: isOn("shown"), createAccounts: isOn("createAccounts") },
    ...{ linking: text("linking"), emailTrust: text("emailTrust") },
    ...{ mapping: text("mapping"), assurance: text("assurance") },
    upstreamLogout: isOn("upstreamLogout"),
  };
}

/** Of a line each: an expression that has several alternatives is a line for each of them. */
export const mappingLines = (mapping: Mapping): string =>
  Object.entries(mapping)
    .flatMap(([member, expression]) => alternatives(expression).map((one) => `${member} = ${one}`))
    .join("\n");

const alternatives = (expression: Expression): readonly string[] =>
  typeof expression === "string" ? [expression] : expression;

const lines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** @returns undefined where a line is none */
export function readMapping(text: string): Mapping | undefined {
  const read = lines(text).map((line) => {
    const [, member = "", expression = ""] = /^([^=\s]+)\s*=\s*(.+)$/u.exec(line) ?? [];
    return { member, expression };
  });
  if (read.some(({ member }) => member === "")) return undefined;
  const byMember = Map.groupBy(read, ({ member }) => member);
  return Object.fromEntries(
    [...byMember].map(([member, all]) => {
      const expressions = all.map(({ expression }) => expression);
      return [member, expressions.length === 1 ? (expressions[0] ?? "") : expressions];
    }),
  );
}

const assuranceLines = (rules: readonly AssuranceRule[]): string =>
  rules.map(({ claim, value, acr }) => `${claim} ${value} = ${acr}`).join("\n");

/** @returns undefined where a line is none */
export function readAssurance(text: string): AssuranceRule[] | undefined {
  const rules = lines(text).map((line): AssuranceRule | undefined => {
    const [, claim, value = "", acr = ""] = /^(acr|amr)\s+(.+?)\s*=\s*([^=\s]+)$/u.exec(line) ?? [];
    return claim === "acr" || claim === "amr" ? { claim, value, acr } : undefined;
  });
  return rules.every((rule) => rule !== undefined) ? rules : undefined;
}

export const isDeletionPolicy = (text: string): text is DeletionPolicy =>
  text === "disable" || text === "delete";

export interface AskedContent {
  readonly mapping: Mapping;
  readonly assurance: readonly AssuranceRule[];
  /** Of SAML, as it was read or typed. */
  readonly saml?: Partial<SamlProvider>;
}

/** What a provider's connection shall be: members that no field holds stay, and so do values that were not changed. */
export function askedConnection(
  before: SignInConnection,
  input: ConnectionInput,
  { mapping, assurance, saml: askedSaml }: AskedContent,
): AskedConnection {
  const { saml, ...settings } = before.settings;
  const now = toConnectionInput(before);
  const { tokenEndpointAuthMethod: method, linking, emailTrust } = input;
  const asked: AskedSettings = {
    ...settings,
    ...(saml
      ? { saml: askedSaml ?? saml }
      : {
          oidc: {
            ...settings.oidc,
            ...{ issuer: input.issuer, clientId: input.clientId },
            tokenEndpointAuthMethod: method as ClientAuthMethod,
            scopes: input.scopes === "" ? [] : input.scopes.split(/\s+/u),
          },
        }),
    ...{ shown: input.shown, createAccounts: input.createAccounts, upstreamLogout: input.upstreamLogout },
    ...{
      linking: linking as SignInSettings["linking"],
      emailTrust: emailTrust as SignInSettings["emailTrust"],
    },
    mapping: input.mapping === now.mapping ? settings.mapping : mapping,
    assurance: input.assurance === now.assurance ? settings.assurance : assurance,
  };
  const clientSecret = input.clientSecret === "" ? undefined : input.clientSecret;
  const { kind, enabled } = before;
  return { kind, enabled, name: input.name, settings: asked, clientSecret };
}

/** By the first members of the path. */
const fieldsOfPaths: Readonly<Record<string, ConnectionField>> = {
  ...{ "/oidc/issuer": "issuer", "/oidc/clientId": "clientId", "/oidc/clientSecret": "clientSecret" },
  ...{ "/oidc/tokenEndpointAuthMethod": "tokenEndpointAuthMethod", "/oidc/scopes": "scopes" },
};

/**
 * @param saml of the record whose settings they are: its members have fields of their own
 * @returns undefined for what is not about the form
 */
export function connectionFaults(
  error: unknown,
  { console: { connections } }: Messages,
  saml?: SamlProvider,
): Record<string, string> | undefined {
  const { faults: texts } = connections;
  if (error instanceof InvalidConnection && error.code === "invalid-name") return { name: texts.name };
  if (error instanceof InvalidConnection && error.code === "name-taken") return { name: texts.taken };
  if (!(error instanceof InvalidSignInConnection)) return undefined;
  const ids = error.faults.map(({ path }): keyof typeof texts => {
    const [, first = ""] = path.split("/");
    if (first === "mapping" || first === "assurance") return first;
    // What is wrong in metadata is wrong where it was given.
    if (first === "saml" && saml) return isTyped(saml) ? "entityId" : "metadataUrlChanged";
    if (first === "saml") return path === "/saml/metadataUrl" ? "metadataUrl" : "metadataXml";
    return (fieldsOfPaths[path] ?? "name") as keyof typeof texts;
  });
  return Object.fromEntries(ids.map((id) => [id === "metadataUrlChanged" ? "metadataUrl" : id, texts[id]]));
}
