/** Commands that call a server: which one, and by whose token. */
import { readFile, stat } from "node:fs/promises";
import { optionalText, type RecordCall, type RemoteCall, requiredText, UsageError } from "../command.ts";
import { errorMessage } from "../output.ts";
import { oauthError, readTokens } from "./answered-tokens.ts";
import { httpLines, httpTransport, postForm } from "./http-transport.ts";
import { recordApi, toRefusal } from "./record-api.ts";
import { readServerAddress } from "./server-address.ts";
import { readLogins, type StoredLogin, withLogins, writeLogin } from "./stored-logins.ts";

/** The server that the call names; undefined: it works on the database. @throws UsageError */
export function namedServer({ values, client }: RemoteCall): string | undefined {
  const given = optionalText(values, "server") ?? client.server;
  if (given !== undefined) return readServerAddress(given);
  if (values.token !== undefined || values["token-file"] !== undefined)
    throw new UsageError("--token and --token-file go with --server");
  return undefined;
}

/** @param isOfOrganisation whether the command has `--org`; without, it is an operator's */
export function remoteRecords(call: RemoteCall, server: string, isOfOrganisation: boolean): RecordCall {
  const { io, values, positionals } = call;
  const orgId = isOfOrganisation ? requiredText(values, "org").toLowerCase() : "";
  const token = tokenSource(call, server, orgId);
  const api = recordApi(httpTransport(server, token), orgId, httpLines(server, token, toRefusal));
  return { io, values, positionals, api };
}

/** What the command line says, then the environment, then who is signed in: each call reads it anew. */
function tokenSource({ values, client }: RemoteCall, server: string, orgId: string): () => Promise<string> {
  const [token, file] = [optionalText(values, "token"), optionalText(values, "token-file")];
  if (token !== undefined && file !== undefined)
    throw new UsageError("give --token or --token-file, not both");
  if (
    token === undefined &&
    file === undefined &&
    client.token !== undefined &&
    client.tokenFile !== undefined
  )
    throw new UsageError("SIGNET_TOKEN and SIGNET_TOKEN_FILE are both set: keep one of them");
  const given = token ?? (file === undefined ? client.token : undefined);
  if (given !== undefined) return async () => given;
  const path = file ?? client.tokenFile;
  let read: Promise<string> | undefined;
  if (path !== undefined) return () => (read ??= readToken(path));
  return () => storedToken(client.folder, server, orgId);
}

const MAX_TOKEN_BYTES = 65_536;

async function readToken(path: string): Promise<string> {
  try {
    if (path !== "-" && (await stat(path)).size > MAX_TOKEN_BYTES) throw new Error("the file is too large");
    const text = path === "-" ? await readInput() : await readFile(path, "utf8");
    const token = text.trim();
    if (token === "" || /\s/.test(token)) throw new Error("there is no access token in it");
    return token;
  } catch (error) {
    throw new Error(`--token-file ${path}: ${errorMessage(error)}`);
  }
}

async function readInput(): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Uint8Array);
  return Buffer.concat(pieces).toString();
}

/** Refreshed this long before it ends. */
const EARLY_MS = 30_000;

async function storedToken(folder: string, server: string, orgId: string): Promise<string> {
  const login = await storedLogin(folder, server, orgId);
  return isFresh(login) ? login.accessToken : refreshed(folder, server, orgId);
}

const isFresh = ({ expiresAt }: StoredLogin): boolean => expiresAt - EARLY_MS > Date.now();

/** Of the organisation's own administrator, else of the operators. */
async function storedLogin(folder: string, server: string, orgId: string): Promise<StoredLogin> {
  const here = (await readLogins(folder)).filter((one) => one.server === server);
  const login = here.find((one) => one.orgId === orgId) ?? here.find((one) => one.isOfOperators);
  if (!login)
    throw new Error(
      `nobody is signed in to ${server}: run signet login --server ${server}${orgId === "" ? "" : ` --org ${orgId}`}, or set SIGNET_TOKEN`,
    );
  return login;
}

const refreshed = (folder: string, server: string, orgId: string): Promise<string> =>
  withLogins(folder, async () => {
    // Another command may have refreshed it while this one waited.
    const login = await storedLogin(folder, server, orgId);
    if (isFresh(login)) return login.accessToken;
    const { tokenEndpoint, clientId, refreshToken } = login;
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId };
    const answer = await postForm(tokenEndpoint, form);
    if (answer.status !== 200)
      throw oauthError(
        `the sign-in has ended: run signet login --server ${server} --org ${login.orgId}`,
        answer,
      );
    const { kept } = readTokens(answer.body, refreshToken);
    await writeLogin(folder, { ...login, ...kept });
    return kept.accessToken;
  });
